/** What is kept beside IndexedDB, for the day that it is lost. */
export { createFailures, createOffered, openFiles, type Files } from './files.ts';
export { createSealedLog, type Replacement, type SealedLog } from './log.ts';
export { betterMark, readMark, writeMark, type Mark } from './mark.ts';
export { MIRROR } from './settings.ts';
