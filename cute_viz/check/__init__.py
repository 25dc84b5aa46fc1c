"""Pictures against silicon: a pure plan of kernels and expected tables, a small device module, a pure report.

plan.py turns an object and its figure into checks, device.py alone touches the GPU, report.py turns what came back into verdicts.
"""
