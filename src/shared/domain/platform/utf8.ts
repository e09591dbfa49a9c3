/** Sizes of texts as stored and sent. */

/** UTF-8 bytes of a text. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
