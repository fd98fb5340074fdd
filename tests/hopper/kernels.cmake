# How many kernels kernels/hopper/hopper.cu has: each tiling and the merge of split keys in three sizes, by type.
set(KERNELS 48)
