/**
 * A new id for anything: a random UUID, 36 characters. It contains no time. Documents are ordered
 * by their stamps and rows by their own columns. Stored ids of other forms stay valid.
 */
export const newId = (): string => crypto.randomUUID();
