/**
 * Which addresses the relay connects for its households, by setting. No rule lets it connect an
 * address that is neither public nor on its own machine or networks. `own`: the owner's households
 * reach both, every other household only public ones.
 */
export const ADDRESS_RULES = ['own', 'any', 'public', 'none'] as const;
/** Which households the model answers that the relay's environment names. */
export const MODEL_SHARES = ['any', 'own'] as const;
export type ModelShare = (typeof MODEL_SHARES)[number];

export type AddressRule = (typeof ADDRESS_RULES)[number];
