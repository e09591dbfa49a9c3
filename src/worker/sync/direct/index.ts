/** Direct connections, as the ledger's owner has them. The tab that carries them has ../carrier. */
export { createDirect, type Direct } from './direct.ts';
