/* SPDX-License-Identifier: MIT
 *
 * Derived types: how they are made, and what the program may ask of that later.
 */
#ifndef MPI_CORE_DERIVED_H
#define MPI_CORE_DERIVED_H

#include <mpi/core/attr.h>
#include <mpi/core/type.h>

/* How a type was made, in the order and the widths of the constructor's arguments. */
struct contents {
	int combiner;
	bool large;			/* by a constructor with large counts */
	MPI_Count integers;
	MPI_Count addresses;
	MPI_Count counts;
	MPI_Count types;
	MPI_Count *values;		/* integers, addresses, counts */
	struct type **type;
};

struct derived {
	/* first: a struct type that is not in the table of predefined ones is a derived one */
	struct type type;
	uint32_t references;
	uint32_t handles;		/* times that the program was given the handle */
	uintptr_t handle;		/* 0: none */
	struct shape shape;
	struct shape room[2];		/* that the shape is made of */
	void *lists;			/* likewise */
	struct contents contents;
	/* held: an unseen type that the shape comes from, or NULL */
	struct type *built;
	struct derived *next;		/* while it is taken down */
	char *name;			/* NULL: none was set */
	struct attr_list attributes;
};

static inline struct derived *
derived_of(struct type *t)
{
	return t->flags & TYPE_PREDEFINED ? NULL : (struct derived *)t;
}

/* Arguments of a constructor; a combiner uses what its MPI function has. */
struct type_arguments {
	int combiner;
	bool large;
	MPI_Count count;
	MPI_Count block;
	MPI_Count stride;		/* bytes for hvector */
	MPI_Count lb;
	MPI_Count extent;
	const MPI_Count *blocks;
	const MPI_Count *displacements;	/* bytes where the name begins with h, and for struct */
	struct type *old;
	struct type *const *types;	/* struct */
};

/*
 * A new type with one reference: MPI_COMBINER_DUP, CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED,
 * INDEXED_BLOCK, HINDEXED_BLOCK, STRUCT, RESIZED. Counts and lengths are >= 0. MPI_ERR_NO_MEM;
 * MPI_ERR_VALUE_TOO_LARGE: a size or a displacement does not fit in 63 bits.
 */
int mpi_type_make(const struct type_arguments *a, struct type **new);

/* Arguments of subarray and darray. */
struct array_arguments {
	int combiner;
	bool large;
	int size;			/* darray */
	int rank;			/* darray */
	int dimensions;
	int order;
	const MPI_Count *sizes;		/* of the whole array */
	const MPI_Count *subsizes;
	const MPI_Count *starts;
	const MPI_Count *distributions;	/* darray */
	const MPI_Count *arguments;
	const MPI_Count *grid;
	struct type *old;
};

/*
 * Likewise for MPI_COMBINER_SUBARRAY and DARRAY; MPI_ERR_ARG where the arguments contradict one
 * another.
 */
int mpi_type_make_array(const struct array_arguments *a, struct type **new);

/*
 * The predefined type without a name for a Fortran precision, of a combiner F90_*: *t is not held.
 * MPI_ERR_ARG: there is none.
 */
int mpi_type_f90(struct mpi_rank *self, int combiner, int precision, int range, struct type **t);

/*
 * Inside: a type with room for its contents, zero but for those, held once; and one argument of
 * them.
 */
struct argument {
	/*
	 * i: always an integer. n: count or index, integer or large count. d: address or large
	 * count
	 */
	char class;
	MPI_Count count;
	const MPI_Count *values;
};

struct derived *mpi_derived_new(int combiner, bool large, const struct argument *arguments,
	struct type *const *types, MPI_Count type_count);

/*
 * The program is given a handle that it must free (the reference of the caller goes with it), and
 * gives it back. Error class.
 */
int mpi_type_give(struct mpi_rank *self, struct type *t, MPI_Datatype *handle);
void mpi_type_take_back(struct mpi_rank *self, struct type *t);

/* The attributes of a type, as an object of their engine. False: no memory. */
bool mpi_type_attributes(struct mpi_rank *self, struct type *t, struct attr_object *o);

/* The name of a type: set by the program, or the predefined one, or "". */
const char *mpi_type_name(struct mpi_rank *self, const struct type *t);
int mpi_type_set_name(struct mpi_rank *self, struct type *t, const char *name);

/* external32: bytes of `count` elements; and there and back. */
int mpi_external_bytes(const struct type *t, MPI_Count count, MPI_Count *bytes);
void mpi_external_pack(const struct type *t, MPI_Count count, const void *buffer, void *out);
void mpi_external_unpack(const struct type *t, MPI_Count count, void *buffer, const void *in);

#endif
