#pragma once
// Everything public.
#include <intarsia/checkpoint.h>
#include <intarsia/compare.h>
#include <intarsia/draw.h>
#include <intarsia/error.h>
#include <intarsia/executor.h>
#include <intarsia/group.h>
#include <intarsia/launch.h>
#include <intarsia/picture.h>
#include <intarsia/plan.h>
#include <intarsia/tensor_file.h>
#include <intarsia/vae.h>
#include <intarsia/video.h>
#include <intarsia/vision_input.h>
