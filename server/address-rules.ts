/**
 * Where the relay goes for its households, by setting. Whatever the rule says, the relay goes nowhere that is neither public nor
 * its own machine or networks. `own`: the owner's households reach all of that, every other only what is public.
 */
export const ADDRESS_RULES = ['own', 'any', 'public', 'none'] as const;
/** Which households the model answers that the relay's environment names. */
export const MODEL_SHARES = ['any', 'own'] as const;
export type ModelShare = (typeof MODEL_SHARES)[number];

export type AddressRule = (typeof ADDRESS_RULES)[number];
