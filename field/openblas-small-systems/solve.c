/* Solves small systems of linear equations for some seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgesv_(int *, int *, double *, int *, int *, double *, int *, int *);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), one = 1, info = 0;
    double *matrix = malloc(n * n * sizeof(double)), *copy = malloc(n * n * sizeof(double)), *right = malloc(n * sizeof(double));
    int *pivots = malloc(n * sizeof(int));
    double end = now() + atof(argv[2]), next = 0;

    srand(1);
    for (int i = 0; i < n * n; i++)
        matrix[i] = rand() / (double)RAND_MAX;
    for (long solved = 0;; solved++) {
        if (solved % 10 == 0 && now() > next) {
            printf("solved %ld\n", solved);
            fflush(stdout);
            if (now() > end)
                return info;
            next = now() + 0.2;
        }
        memcpy(copy, matrix, n * n * sizeof(double));
        for (int i = 0; i < n; i++)
            right[i] = i + solved % 7;
        dgesv_(&n, &one, copy, &n, pivots, right, &n, &info);
    }
}
