// Stand-in for a parser where PyTorch is not installed.
#pragma once
#define C10_CUDA_CHECK(...) (void)(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() (void)0
#define AT_CUDA_CHECK(...) (void)(__VA_ARGS__)
#define TORCH_CHECK(...) (void)0
