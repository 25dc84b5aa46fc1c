{headers}
extern "C" __global__ void {entry}_0({kind} const* table, {kind}* seen, unsigned* count, unsigned n) {
  auto layout = {expression};
  for (unsigned j = 0; j < 4; ++j) {
    unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x) + j;
    if (i < n) {
      {kind} value = {kind}(layout(int(i)));
      seen[i] = value;
      if (value != table[i]) atomicAdd(count, 1u);
    }
  }
}
