# How many kernels kernels/hopper/hopper.cu has: each tiling and the merge of split keys, by type.
set(KERNELS 44)
