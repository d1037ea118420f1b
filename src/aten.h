// The only way to ATen, and the precompiled header. Never <torch/torch.h>: 22 s a file.
#pragma once
#include <ATen/core/ivalue.h>
// (ivalue first: clang needs it complete before ATen.h)
#include <ATen/ATen.h>
