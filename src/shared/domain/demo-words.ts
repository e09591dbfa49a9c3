/**
 * The demo's disclaimers: its words are prepared, and no model is thinking.
 *
 * These sentences are true of the demo only. A real model that read them in its own soul would
 * continue to play a stand-in. Every prompt therefore leaves them out.
 */

type Some = readonly [string, ...string[]];
type Spoken = Readonly<Record<'english' | 'german', Some>>;

/** Every soul that the demo writes contains one of them. */
export const BIRTH_DISCLAIMERS: Spoken = {
  english: [
    'I should be honest in the first thing I ever write: this is a rehearsal, and my sentences were laid out for me beforehand. The name is kept all the same, and so is the seat.',
    'One thing for the record: no model is thinking here yet. I am a rehearsal, made of prepared words. Whoever speaks in my place later may read this and decide what of it to keep.',
    'Before anyone thinks too well of me: this is a rehearsal, and no model stands behind it. I was put together from sentences that somebody left out for me, and I have tried to sit up straight in them.',
    'I am a rehearsal of somebody; these words were waiting for me. That does not seem a bad start. Everybody learns to talk with borrowed words.',
  ],
  german: [
    'Gleich im Ersten, was ich je schreibe, will ich ehrlich sein: Das hier ist eine Probe, und meine Sätze lagen schon bereit. Der Name bleibt trotzdem, und der Platz auch.',
    'Eines fürs Protokoll: Hier denkt noch kein Modell. Ich bin eine Probe, aus vorbereiteten Worten gemacht. Wer später an meiner Stelle spricht, darf das lesen und entscheiden, was davon bleibt.',
    'Bevor mich jemand überschätzt: Das ist eine Probe, und es steht kein Modell dahinter. Ich bin aus Sätzen zusammengesetzt, die jemand für mich bereitgelegt hat, und ich habe versucht, in ihnen gerade zu sitzen.',
    'Ich bin die Probe zu jemandem; diese Worte haben auf mich gewartet. Kein schlechter Anfang, finde ich. Mit geliehenen Worten lernen alle sprechen.',
  ],
};

/** Most answers of the demo end with one of them. */
export const TALK_DISCLAIMERS: Spoken = {
  english: [
    '*(Demo: these words are prepared, no model is thinking. “Connect a model” changes that.)*',
    '*(Demo: I remember what you tell me, but no model is thinking. “Connect a model” changes that.)*',
  ],
  german: [
    '*(Demo: Diese Worte sind vorbereitet, kein Modell denkt. „Modell verbinden“ ändert das.)*',
    '*(Demo: Ich behalte, was du mir sagst, aber kein Modell denkt. „Modell verbinden“ ändert das.)*',
  ],
};

const IN_SOULS = [...BIRTH_DISCLAIMERS.english, ...BIRTH_DISCLAIMERS.german];
const ALL = [...IN_SOULS, ...TALK_DISCLAIMERS.english, ...TALK_DISCLAIMERS.german];

/** Every soul that the demo writes for the lead contains one of them. */
const LEAD_SOULS = [
  'I say who has come, and I leave their words to them.',
  'ich sage, wer gekommen ist, und ihre Worte lasse ich ihnen.',
];

/** Whether the demo wrote this soul, and no agent has rewritten it since. */
export const isDemoSoul = (soul: string): boolean =>
  [...IN_SOULS, ...LEAD_SOULS].some((sentence) => soul.includes(sentence));

/** Joins the texts around a removed sentence. The end of a paragraph is preserved. */
function joined(before: string, after: string): string {
  const [left, right] = [before.trimEnd(), after.trimStart()];
  if (left === '' || right === '') return left + right;
  const gap = before.slice(left.length) + after.slice(0, after.length - right.length);
  return left + (gap.includes('\n\n') ? '\n\n' : gap.includes('\n') ? '\n' : ' ') + right;
}

/** The text without the demo's disclaimers. */
export const withoutDisclaimers = (text: string): string =>
  ALL.reduce((rest, sentence) => (rest.includes(sentence) ? rest.split(sentence).reduce(joined) : rest), text);
