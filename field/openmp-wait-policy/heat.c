/* Heat spreads over a plate: a parallel loop for each step, then one thread looks how rough the plate is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 400 };
static double plate[2][SIZE][SIZE];

static double roughness(double (*of)[SIZE])
{
    double sum = 0;

    for (int y = 1; y < SIZE; y++)
        for (int x = 1; x < SIZE; x++)
            sum += sqrt(fabs(of[y][x] - of[y - 1][x]) + fabs(of[y][x] - of[y][x - 1]));
    return sum;
}

int main(int argc, char **argv)
{
    int steps = atoi(argv[1]);
    double rough = 0;

    for (int x = 0; x < SIZE; x++)
        plate[0][0][x] = plate[1][0][x] = 100;
    for (int step = 0; step < steps; step++) {
        double (*from)[SIZE] = plate[step & 1], (*to)[SIZE] = plate[~step & 1];
#pragma omp parallel for schedule(static)
        for (int y = 1; y < SIZE - 1; y++)
            for (int x = 1; x < SIZE - 1; x++)
                to[y][x] = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
        if (roughness(to) > rough)
            rough = roughness(to);
    }
    printf("%g %g\n", plate[steps & 1][10][SIZE / 2], rough);
    return 0;
}
