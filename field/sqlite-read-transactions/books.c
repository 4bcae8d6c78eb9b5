// Writes a database of books, or looks up a million of them, each by itself or many in a transaction: FILE fill|PER_TRANSACTION.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOOKS = 200000, LOOK_UPS = 1000000 };

static sqlite3 *database;

static void run(const char *statement) {
    char *error = NULL;
    if (sqlite3_exec(database, statement, NULL, NULL, &error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
}

int main(int count, char **argument) {
    sqlite3_stmt *statement;
    if (count != 3 || sqlite3_open(argument[1], &database)) return 2;
    if (!strcmp(argument[2], "fill")) {
        run("PRAGMA synchronous = OFF; BEGIN; CREATE TABLE books (id INTEGER PRIMARY KEY, isbn INTEGER, title TEXT)");
        sqlite3_prepare_v2(database, "INSERT INTO books VALUES (?1, ?1 * 7919 % 200003, 'a book of the number ' || ?1)", -1, &statement, NULL);
        for (int id = 0; id < BOOKS; id++) {
            sqlite3_bind_int(statement, 1, id);
            if (sqlite3_step(statement) != SQLITE_DONE) return 1;
            sqlite3_reset(statement);
        }
        run("CREATE INDEX books_isbn ON books (isbn); COMMIT");
        return 0;
    }
    int many = atoi(argument[2]);
    run("PRAGMA cache_size = 20000");
    sqlite3_prepare_v2(database, "SELECT title FROM books WHERE isbn = ?1", -1, &statement, NULL);
    srand(1);
    for (int done = 1, found = 0; done <= LOOK_UPS; done++) {
        if (many > 1 && done % many == 1) run("BEGIN");
        sqlite3_bind_int(statement, 1, rand() % 200003);
        while (sqlite3_step(statement) == SQLITE_ROW) found += sqlite3_column_bytes(statement, 0) > 0;
        sqlite3_reset(statement);
        if (many > 1 && done % many == 0) run("COMMIT");
        if (done % 10000 == 0) printf("done %d\n", done), fflush(stdout);
        if (done == LOOK_UPS) printf("found %d\n", found);
    }
    return 0;
}
