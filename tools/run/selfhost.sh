# What ./atoll selfhost does on the machine: Lua is built from its C files, and runs its own tests.
cd /src/lua || exit
make "$@" posix CC=tcc AR="tcc -ar rcs" RANLIB=true MYLDFLAGS=-static || exit
cd testes || exit
# musl says that it has any locale, and the tests then expect a decimal comma
exec ../lua -e "_U = true; local set = os.setlocale
	os.setlocale = function (l, c) if l == nil or l == '' or l == 'C' then return set(l, c) end end" all.lua
