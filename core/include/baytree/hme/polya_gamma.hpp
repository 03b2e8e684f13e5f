#pragma once

#include "baytree/base/rng.hpp"

namespace baytree::hme {

/// A Pólya–Gamma variable of shape 1 and this tilt, exactly (Polson, Scott and Windle 2013, after Devroye 2009). Its
/// mean is tanh(tilt/2) / (2 tilt), its Laplace transform E e^(−tω) = cosh(tilt/2) / cosh(√(tilt²/4 + t/2)).
double polya_gamma(double tilt, Stream& stream);

}  // namespace baytree::hme
