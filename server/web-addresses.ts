/** Where agents may read. `public`: nothing of the relay's own machine, nor of the networks it stands in. */
export const WEB_ADDRESSES = ['public', 'any', 'none'] as const;
export type WebAddresses = (typeof WEB_ADDRESSES)[number];
