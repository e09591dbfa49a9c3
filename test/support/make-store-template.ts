/** Run as a program: makes the embedded store that tests start from, where it is not there yet. */
import { storeTemplate } from './store-template.ts';

await storeTemplate();
