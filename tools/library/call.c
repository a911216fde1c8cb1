/* How Python calls compiled kernels, and what kernels need besides libc.
 *
 * sfumato_call lays the arguments of a call out as 64-bit words, spells their kinds,
 * finds the entry with these kinds, and calls its trampoline without the interpreter's
 * lock. The interpreter's functions come in a table at run time, so that one library
 * serves every Python with the stable interface of 3.11.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

typedef struct Object Object;

/* Py_buffer, as the stable interface fixes it. */
typedef struct {
    void *data;
    Object *owner;
    ptrdiff_t length, item_size;
    int read_only, axes;
    char *format;
    ptrdiff_t *shape, *strides, *suboffsets;
    void *internal;
} Buffer;

enum { BUFFER_REQUEST = 0x0004 | 0x0018 }; /* PyBUF_FORMAT | PyBUF_STRIDES */
enum { TUPLE_FLAG = 1 << 26 };

/* In the order of NEEDED and TYPES in kernels/compilation/library.py. */
static struct {
    int (*get_buffer)(Object *, Buffer *, int);
    void (*release_buffer)(Buffer *);
    int (*is_contiguous)(const Buffer *, char);
    void (*clear_error)(void);
    ptrdiff_t (*tuple_size)(Object *);
    Object *(*tuple_item)(Object *, ptrdiff_t);
    Object *(*type_of)(Object *);
    unsigned long (*type_flags)(Object *);
    Object *(*type_name)(Object *);
    const char *(*as_text)(Object *, ptrdiff_t *);
    long long (*as_integer)(Object *);
    double (*as_double)(Object *);
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
    void (*drop)(Object *);
    Object *tuple_type, *int_type, *bool_type, *float_type, *pointer_type, *none_type;
    Object *true_object, *none_object;
} python;

PUBLIC int sfumato_setup(const void *table) {
    memcpy(&python, table, sizeof python);
    return 0;
}

enum { MOST_WORDS = 2048, MOST_LETTERS = 8192 };
enum { NO_ENTRY = -100, NO_MEMORY = -101, TOO_LONG = -103 };

typedef struct {
    int64_t words[MOST_WORDS];
    char kinds[MOST_LETTERS];
    int count, letters, failed;
} Call;

static void put_word(Call *call, int64_t word) {
    if (call->count < MOST_WORDS) call->words[call->count++] = word;
    else call->failed = 1;
}

static void put_text(Call *call, const char *text, size_t length) {
    if (call->letters + length < MOST_LETTERS) {
        memcpy(call->kinds + call->letters, text, length);
        call->letters += (int)length;
    } else call->failed = 1;
}

static void put_number_kind(Call *call, const char *format, ptrdiff_t size) {
    char kind[2];
    const char letter = *format == '<' || *format == '=' || *format == '@' ? format[1] : *format;
    if (strchr("bhilqn", letter)) kind[0] = 'i';
    else if (strchr("BHILQN", letter)) kind[0] = 'u';
    else if (strchr("efdg", letter)) kind[0] = 'f';
    else if (letter == '?') kind[0] = 'b';
    else kind[0] = '!';
    kind[1] = (char)('0' + size);
    put_text(call, kind, 2);
}

/* A number in a word, wherever its bytes lie: platforms are little-endian. */
static int64_t widened(const void *data, ptrdiff_t size) {
    int64_t word = 0;
    memcpy(&word, data, size < 8 ? (size_t)size : 8);
    return word;
}

static void put_buffer(Call *call, Object *value) {
    Buffer view;
    if (python.get_buffer(value, &view, BUFFER_REQUEST) != 0) {
        python.clear_error();
        put_text(call, "?", 1);
        return;
    }
    put_number_kind(call, view.format ? view.format : "B", view.item_size);
    if (view.axes == 0) {
        put_word(call, widened(view.data, view.item_size));
    } else {
        int64_t items = 1;
        char rest[3] = {':', (char)('0' + view.axes), 'A'};
        for (int i = 0; i < view.axes; i++) items *= view.shape[i];
        if (python.is_contiguous(&view, 'C')) rest[2] = 'C';
        else if (python.is_contiguous(&view, 'F')) rest[2] = 'F';
        put_text(call, rest, 3);
        if (view.read_only) put_text(call, "r", 1);
        put_word(call, 0); /* no counter: the caller holds the array */
        put_word(call, 0); /* nor a parent */
        put_word(call, items);
        put_word(call, view.item_size);
        put_word(call, (int64_t)(intptr_t)view.data);
        for (int i = 0; i < view.axes; i++) put_word(call, view.shape[i]);
        for (int i = 0; i < view.axes; i++) put_word(call, view.strides[i]);
    }
    python.release_buffer(&view);
}

static void put_value(Call *call, Object *value);

static void put_tuple(Call *call, Object *value, Object *type) {
    ptrdiff_t size = python.tuple_size(value);
    if (type != python.tuple_type) {
        ptrdiff_t length = 0;
        Object *name = python.type_name(type);
        const char *text = python.as_text(name, &length);
        put_text(call, text, (size_t)length);
        python.drop(name);
    }
    put_text(call, "(", 1);
    for (ptrdiff_t i = 0; i < size; i++) {
        if (i) put_text(call, ",", 1);
        put_value(call, python.tuple_item(value, i));
    }
    put_text(call, ")", 1);
}

static void put_double(Call *call, double number) {
    int64_t word;
    memcpy(&word, &number, sizeof word);
    put_text(call, "f8", 2);
    put_word(call, word);
}

static void put_value(Call *call, Object *value) {
    Object *type = python.type_of(value);
    python.drop(type); /* the value keeps its type alive */
    if (type == python.int_type) {
        put_text(call, "i8", 2);
        put_word(call, python.as_integer(value));
    } else if (type == python.bool_type) {
        put_text(call, "b1", 2);
        put_word(call, value == python.true_object);
    } else if (type == python.float_type) {
        put_double(call, python.as_double(value));
    } else if (type == python.pointer_type) {
        put_text(call, "p", 1);
        put_word(call, 0);
        put_word(call, 0);
        put_word(call, python.as_integer(value));
    } else if (value == python.none_object) {
        put_text(call, "n", 1);
        put_word(call, 0);
    } else if (python.type_flags(type) & TUPLE_FLAG) {
        put_tuple(call, value, type);
    } else {
        put_buffer(call, value);
    }
}

typedef struct {
    const char *takes;
    int (*call)(const int64_t *words, void *result, void **fault);
} Slot;

/* What a kernel says of an exception begins with its pickled form and its length. */
typedef struct {
    const char *pickled;
    int32_t length;
} Fault;

static int is_memory_error(const Fault *fault) {
    static const char name[] = "MemoryError";
    const int size = (int)sizeof name - 1;
    if (!fault || !fault->pickled) return 0;
    for (int i = 0; i + size <= fault->length; i++)
        if (memcmp(fault->pickled + i, name, (size_t)size) == 0) return 1;
    return 0;
}

PUBLIC int sfumato_call(const Slot *slots, int count, Object *values, void *result, int *which) {
    Call call;
    call.count = call.letters = call.failed = 0;
    ptrdiff_t size = python.tuple_size(values);
    for (ptrdiff_t i = 0; i < size; i++) {
        if (i) put_text(&call, ",", 1);
        put_value(&call, python.tuple_item(values, i));
    }
    if (call.failed) return TOO_LONG;
    call.kinds[call.letters] = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(slots[i].takes, call.kinds) != 0) continue;
        void *fault = 0;
        *which = i;
        void *thread = python.save_thread();
        int status = slots[i].call(call.words, result, &fault);
        python.restore_thread(thread);
        return status != 0 && status != -2 && is_memory_error(fault) ? NO_MEMORY : status;
    }
    return NO_ENTRY;
}

/* Counted memory, as kernels that make arrays expect it. */

typedef struct {
    size_t references;
    void (*destroy)(void *, size_t, void *);
    void *destroy_info;
    void *data;
    size_t size;
    void *allocator;
} Memory;

#define VARYING ((void *)1) /* the data lies apart and may grow */

void *NRT_MemInfo_alloc_aligned(size_t size, unsigned alignment) {
    char *base = malloc(sizeof(Memory) + size + alignment);
    if (!base) return 0;
    Memory *memory = (Memory *)base;
    uintptr_t start = (uintptr_t)base + sizeof(Memory), over = start % alignment;
    memset(memory, 0, sizeof *memory);
    memory->references = 1;
    memory->size = size;
    memory->data = (void *)(over ? start + alignment - over : start);
    return memory;
}

void *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

void *NRT_MemInfo_new_varsize_dtor(size_t size, void (*destroy)(void *, size_t, void *)) {
    Memory *memory = calloc(1, sizeof(Memory));
    void *data = malloc(size);
    if (!memory || !data) {
        free(memory);
        free(data);
        return 0;
    }
    memory->references = 1;
    memory->destroy = destroy;
    memory->data = data;
    memory->size = size;
    memory->allocator = VARYING;
    return memory;
}

void *NRT_MemInfo_varsize_realloc(Memory *memory, size_t size) {
    void *data = realloc(memory->data, size);
    if (data) {
        memory->data = data;
        memory->size = size;
    }
    return data;
}

void *NRT_MemInfo_varsize_alloc(Memory *memory, size_t size) {
    void *data = malloc(size);
    if (data) {
        memory->data = data;
        memory->size = size;
    }
    return data;
}

void NRT_MemInfo_varsize_free(Memory *memory, void *data) {
    free(data);
    if (memory->data == data) memory->data = 0;
}

void NRT_MemInfo_call_dtor(Memory *memory) {
    if (memory->destroy) memory->destroy(memory->data, memory->size, memory->destroy_info);
    if (memory->allocator == VARYING) free(memory->data);
    free(memory);
}

void *NRT_Allocate(size_t size) { return malloc(size); }
void NRT_Free(void *data) { free(data); }

PUBLIC void sfumato_release(Memory *memory) {
    if (memory && __atomic_sub_fetch(&memory->references, 1, __ATOMIC_ACQ_REL) == 0)
        NRT_MemInfo_call_dtor(memory);
}

/* Kernels reshape contiguous arrays only. */
int numba_attempt_nocopy_reshape(intptr_t axes, const intptr_t *shape, const intptr_t *strides,
                                 intptr_t new_axes, const intptr_t *new_shape, intptr_t *new_strides,
                                 intptr_t item_size, int fortran) {
    intptr_t step = item_size;
    (void)fortran;
    for (intptr_t i = axes; i-- > 0; step *= shape[i])
        if (shape[i] != 1 && strides[i] != step) return 0;
    step = item_size;
    for (intptr_t i = new_axes; i-- > 0; step *= new_shape[i]) new_strides[i] = step;
    return 1;
}
