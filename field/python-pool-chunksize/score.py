import multiprocessing
import sys


def score(number):
    return sum(int(digit) ** 2 for digit in str(number))


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        total = 0
        for value in pool.imap(score, range(1_000_000, 1_450_000), chunksize=int(sys.argv[1])):
            total += value
    print(total)
