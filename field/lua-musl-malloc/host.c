#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

static char *script, *argument;

/* Each thread has a Lua state of its own, as a server with a state for each worker. */
static void *work(void *unused)
{
    (void)unused;
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    lua_newtable(state);
    lua_pushstring(state, argument);
    lua_rawseti(state, -2, 1);
    lua_setglobal(state, "arg");
    if (luaL_dofile(state, script)) {
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
        exit(1);
    }
    lua_close(state);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    if (argc < 3)
        return 2;
    script = argv[1];
    argument = argv[2];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
