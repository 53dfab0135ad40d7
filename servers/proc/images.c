/* SPDX-License-Identifier: MIT
 *
 * Images that stay open: see images.h.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/proc/images.h>

#define IMAGES 3

static struct image images[IMAGES];	/* with no name: none */
static unsigned next;			/* that is given up for a new one */

bool
images_drop(void)
{
	bool were_some = false;

	for (unsigned i = 0; i < IMAGES; i++) {
		if (images[i].name[0] == 0)
			continue;
		image_close(&images[i]);
		images[i].name[0] = 0;
		were_some = true;
	}
	return were_some;
}

static int
open_in(struct image *im, const char *name)
{
	int result = image_open(im, (struct text){name, str_len(name)}, false);

	if (result != 0) {
		image_close(im);
		im->name[0] = 0;
	}
	return result;
}

int
images_get(const char *name, struct image **image)
{
	static struct image opened;
	int result;

	for (unsigned i = 0; i < IMAGES; i++)
		if (images[i].name[0] != 0 && str_is_equal(images[i].name, name)) {
			*image = &images[i];
			return 0;
		}
	result = open_in(&opened, name);
	if (result == -E_NOMEM && images_drop())
		result = open_in(&opened, name);
	if (result != 0)
		return result;
	/* what cannot be opened takes nobody's place */
	*image = &images[next];
	next = (next + 1) % IMAGES;
	if ((*image)->name[0] != 0)
		image_close(*image);
	**image = opened;
	return 0;
}
