/**
 * What a stand-in is asked to remind of, and when: "Remind me in 10 minutes to …", „Erinnere mich
 * jeden Freitag um acht an …“.
 */
import { inEnglish } from './reminders-english.ts';
import { inGerman } from './reminders-german.ts';
import type { Wish } from './wish.ts';

export { IS_WISH } from './reminders-english.ts';

/** What these words ask to be reminded of; null where they ask for none, or do not say when. */
export const reminderIn = (said: string): Wish | null => inEnglish(said) ?? inGerman(said);
