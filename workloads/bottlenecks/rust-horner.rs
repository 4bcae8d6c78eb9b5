// Bound by latency: a polynomial is evaluated from the highest coefficient down, a multiplication and an addition after another.
mod bench;

#[inline(never)]
pub fn evaluate(coefficients: &[f64], x: f64) -> f64 {
    let mut value = 0.0;
    for coefficient in coefficients {
        value = value * x + coefficient;
    }
    value
}

fn main() {
    let bench =
        bench::Bench { operation: "take one more coefficient", unit: "coefficients", size: 1024, per_call: 1024 };
    bench::run(&bench, |size| {
        let coefficients: Vec<f64> = (0..size).map(|i| 1.0 / (i + 1) as f64).collect();
        let mut x = 0.999;
        move |_| {
            x = 0.999 + evaluate(&coefficients, x) * 1e-12;
            x.to_bits()
        }
    });
}
