/* SPDX-License-Identifier: MIT
 *
 * Attributes of communicators: callbacks, their order and their errors, and what is there from the
 * start.
 */
#include "check.h"

static int copies, deletes, order[8], refuse;

static int
copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)keyval;
	copies++;
	*(void **)out = (char *)in + *(int *)extra;
	*flag = 1;
	return refuse ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static int
drop(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	if (refuse)
		return MPI_ERR_ACCESS;
	order[deletes++ % 8] = (int)(intptr_t)value;
	return MPI_SUCCESS;
}

/* At the end of MPI_COMM_SELF the library still works. */
static int
at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int flag = 1, rank;

	(void)keyval;
	(void)extra;
	MPI_Finalized(&flag);
	if (flag || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || comm != MPI_COMM_SELF)
		printf("at the end: wrong\n");
	(*(int *)value)++;
	return MPI_SUCCESS;
}

static void
callbacks(struct check *c)
{
	MPI_Comm a, b;
	int key, plain, value_key, step = 16, flag;
	void *v;

	MPI_Comm_create_keyval(copy, drop, &key, &step);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, drop, &value_key, NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_set_attr(a, key, (void *)100);
	MPI_Comm_set_attr(a, plain, (void *)200);
	MPI_Comm_set_attr(a, value_key, (void *)300);
	MPI_Comm_dup(a, &b);
	CHECK(c, copies == 1);
	MPI_Comm_get_attr(b, key, &v, &flag);
	CHECK(c, flag && v == (void *)116);
	MPI_Comm_get_attr(b, plain, &v, &flag);
	CHECK(c, !flag);
	MPI_Comm_get_attr(b, value_key, &v, &flag);
	CHECK(c, flag && v == (void *)300);
	MPI_Comm_set_attr(b, key, (void *)7);
	CHECK(c, deletes == 1 && order[0] == 116);
	MPI_Comm_free(&b);
	CHECK(c, deletes == 3 && order[1] == 7 && order[2] == 300);
	MPI_Comm_delete_attr(a, value_key);
	CHECK(c, deletes == 4);
	CHECK(c, MPI_Comm_delete_attr(a, value_key) == MPI_ERR_KEYVAL);
	MPI_Comm_free_keyval(&value_key);
	CHECK(c, value_key == MPI_KEYVAL_INVALID);
	/* errors of callbacks come through and nothing changes */
	refuse = 1;
	CHECK(c, MPI_Comm_dup(a, &b) != MPI_SUCCESS && b == MPI_COMM_NULL);
	CHECK(c, MPI_Comm_free(&a) == MPI_ERR_ACCESS && a != MPI_COMM_NULL);
	CHECK(c, MPI_Comm_delete_attr(a, key) == MPI_ERR_ACCESS);
	refuse = 0;
	MPI_Comm_free_keyval(&key);
	MPI_Comm_free_keyval(&plain);
	deletes = 0;
	MPI_Comm_free(&a);
	CHECK(c, deletes == 1 && order[0] == 100);
}

static void
predefined(struct check *c)
{
	int *v = NULL, flag = 0, class, key, tkey;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
	CHECK(c, flag && *v >= 32767);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &v, &flag);
	CHECK(c, !flag || *v >= c->size);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &v, &flag);
	CHECK(c, flag);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &v, &flag);
	CHECK(c, flag && *v == MPI_ERR_LASTCODE);
	MPI_Add_error_class(&class);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &v, &flag);
	CHECK(c, flag && *v == class && class > MPI_ERR_LASTCODE);
	MPI_Remove_error_class(class);
	CHECK(c, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL) == MPI_ERR_KEYVAL);
	CHECK(c, MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) == MPI_ERR_KEYVAL);
	CHECK(c, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &v, &flag) ==
		MPI_ERR_KEYVAL);
	/* a key of one kind is none of another */
	MPI_Comm_create_keyval(NULL, NULL, &key, NULL);
	MPI_Type_create_keyval(NULL, NULL, &tkey, NULL);
	CHECK(c, MPI_Comm_set_attr(MPI_COMM_WORLD, tkey, NULL) == MPI_ERR_KEYVAL);
	CHECK(c, MPI_Type_free_keyval(&key) == MPI_ERR_KEYVAL);
	MPI_Type_free_keyval(&tkey);
	MPI_Comm_free_keyval(&key);
}

/*
 * A key that was freed while attributes are under it serves them until the last is gone: it is
 * read, copied and deleted by its number.
 */
static void
freed_key(struct check *c)
{
	MPI_Comm a, b;
	int key, saved, others[8], step = 1, flag;
	void *v;

	MPI_Comm_create_keyval(copy, drop, &key, &step);
	MPI_Comm_dup(MPI_COMM_SELF, &a);
	MPI_Comm_set_attr(a, key, (void *)40);
	saved = key;
	MPI_Comm_free_keyval(&key);
	for (int i = 0; i < 8; i++)
		MPI_Comm_create_keyval(NULL, NULL, &others[i], NULL);
	MPI_Comm_dup(a, &b);
	MPI_Comm_get_attr(b, saved, &v, &flag);
	CHECK(c, flag && v == (void *)41);
	MPI_Comm_free(&b);
	key = saved;
	CHECK(c, MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
	CHECK(c, MPI_Comm_set_attr(MPI_COMM_SELF, saved, NULL) == MPI_ERR_KEYVAL);
	deletes = 0;
	CHECK(c, MPI_Comm_delete_attr(a, saved) == MPI_SUCCESS && deletes == 1);
	CHECK(c, MPI_Comm_get_attr(a, saved, &v, &flag) == MPI_ERR_KEYVAL);
	for (int i = 0; i < 8; i++)
		MPI_Comm_free_keyval(&others[i]);
	MPI_Comm_free(&a);
}

static int type_deletes;

static int
type_drop(MPI_Datatype t, int keyval, void *value, void *extra)
{
	(void)t;
	(void)keyval;
	(void)extra;
	type_deletes += (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static void
of_types(struct check *c)
{
	MPI_Datatype a, b;
	int key, flag;
	void *v;

	MPI_Type_create_keyval(MPI_TYPE_DUP_FN, type_drop, &key, NULL);
	MPI_Type_set_attr(MPI_INT, key, (void *)1);
	MPI_Type_dup(MPI_INT, &a);
	MPI_Type_get_attr(a, key, &v, &flag);
	CHECK(c, flag && v == (void *)1);
	MPI_Type_set_attr(a, key, (void *)10);
	MPI_Type_contiguous(2, a, &b);
	MPI_Type_get_attr(b, key, &v, &flag);
	CHECK(c, !flag);
	MPI_Type_free(&a);
	MPI_Type_free(&b);
	CHECK(c, type_deletes == 11);
	MPI_Type_delete_attr(MPI_INT, key);
	CHECK(c, type_deletes == 12);
	MPI_Type_get_attr(MPI_INT, key, &v, &flag);
	CHECK(c, !flag);
	MPI_Type_free_keyval(&key);
}

static void
old_names(struct check *c)
{
	int key, flag, n = 5, *v;

	MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
	MPI_Attr_put(MPI_COMM_SELF, key, &n);
	MPI_Attr_get(MPI_COMM_SELF, key, &v, &flag);
	CHECK(c, flag && v == &n);
	MPI_Attr_delete(MPI_COMM_SELF, key);
	MPI_Attr_get(MPI_COMM_SELF, key, &v, &flag);
	CHECK(c, !flag);
	MPI_Keyval_free(&key);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int key, ended = 0, status;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	predefined(&c);
	callbacks(&c);
	of_types(&c);
	old_names(&c);
	freed_key(&c);
	MPI_Comm_create_keyval(NULL, at_the_end, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, &ended);
	status = check_end(&c);
	return ended == 1 ? status : 1;
}
