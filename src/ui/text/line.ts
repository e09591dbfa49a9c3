/** A place in the line before the model's server, in words. */
const ORDINALS = ['next', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth'];

/** `place`: 1 is next. */
export const placeText = (place: number): string => `${ORDINALS[place - 1] ?? `number ${place}`} in line`;
