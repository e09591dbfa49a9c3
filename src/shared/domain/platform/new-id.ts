/**
 * A new id for anything: a random UUID, 36 characters. No id says when it was made. Documents are
 * ordered by their stamps and rows by their own columns; ids of another form that are stored stay
 * valid.
 */
export const newId = (): string => crypto.randomUUID();
