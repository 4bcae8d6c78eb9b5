#include <Eigen/Dense>
#include <cstdio>
#include <cstdlib>

// Ridge regression again and again: a product of matrices and a decomposition.
int main(int argc, char **argv)
{
    int count = argc > 1 ? std::atoi(argv[1]) : 1;
    std::srand(3);
    Eigen::MatrixXf x = Eigen::MatrixXf::Random(4000, 400);
    Eigen::VectorXf y = Eigen::VectorXf::Random(4000);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        Eigen::MatrixXf gram = x.transpose() * x;
        gram.diagonal().array() += 1.0f + i;
        Eigen::VectorXf weights = gram.llt().solve(x.transpose() * y);
        sum += weights.squaredNorm();
    }
    std::printf("%g\n", sum);
}
