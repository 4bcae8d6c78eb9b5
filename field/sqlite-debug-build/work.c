#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"

static void run(sqlite3 *db, const char *sql)
{
    char *error = 0;
    if (sqlite3_exec(db, sql, 0, 0, &error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    int count = argc > 1 ? atoi(argv[1]) : 1;
    sqlite3_open(":memory:", &db);
    run(db, "CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL)");
    run(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
            " INSERT INTO item SELECT i, i % 97, 'item ' || (i * 7919 % 40009), i * 0.25 FROM n");
    run(db, "CREATE INDEX item_name ON item(name)");
    for (int i = 0; i < count; i++) {
        run(db, "SELECT kind, count(*), sum(price) FROM item WHERE name > 'item 2' GROUP BY kind ORDER BY 3");
        run(db, "SELECT a.id FROM item a JOIN item b ON b.id = a.id + 1 WHERE b.price > a.price AND a.kind < 50 ORDER BY b.name");
        run(db, "UPDATE item SET price = price + 1 WHERE kind < 20");
    }
    sqlite3_close(db);
    printf("%d rounds\n", count);
}
