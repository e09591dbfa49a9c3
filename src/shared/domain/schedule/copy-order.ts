/**
 * How what agents leave with a relay is told apart: a part of its own, since the page's first paint
 * must wait for no schema.
 */

/**
 * Characters of the name of a copy's version by which it sorts: when something was said last that
 * it knows.
 */
export const COPY_ORDER_CHARS = 15;
