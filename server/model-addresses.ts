/** Which addresses pages may connect. `own`: any for the relay's first household, only public ones for every other. */
export const MODEL_ADDRESSES = ['own', 'any', 'public', 'none'] as const;
export type ModelAddresses = (typeof MODEL_ADDRESSES)[number];
