/**
 * Reads a message aloud with one of the system's voices: one message at a time, until it is
 * stopped.
 */
import { spoken, t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';
import { piecesToSay, voiceOf, wordsToSay } from './words.ts';
import { keyOf } from '../design/keys.ts';

/** ms within which a browser lists its voices after the first request. */
const VOICES_WITHIN = 1_500;

type Around = Pick<RoostState, 'notices' | 'device'>;

/** Storage key of the voice that was chosen for an agent on this device. */
const storedVoice = (agentId: string) => `roost-voice:${agentId}`;
export const chosenVoice = (state: Around, agentId: string): string | null =>
  state.device.browser.read(storedVoice(agentId));
export const chooseVoice = (state: Around, agentId: string, voiceUri: string): boolean =>
  state.device.browser.write(storedVoice(agentId), voiceUri);

/** Some browsers list their voices only a moment after the first request. */
export async function listVoices(): Promise<readonly SpeechSynthesisVoice[]> {
  const voices = speechSynthesis.getVoices();
  if (voices.length > 0) return voices;
  await new Promise((resolve) => {
    speechSynthesis.addEventListener('voiceschanged', resolve, { once: true });
    setTimeout(resolve, VOICES_WITHIN);
  });
  return speechSynthesis.getVoices();
}

let stop: () => void = () => undefined;
/** Stops what is being read. */
export const hush = (): void => stop();

/** `who`: the author, an agent or the person (`human`), who has a voice too. */
export async function readAloud(state: Around, who: string, name: string, markdown: string): Promise<void> {
  stop();
  const pieces = piecesToSay(wordsToSay(markdown));
  const voices = await listVoices();
  if (voices.length === 0) {
    state.notices.error(t`This browser cannot read aloud.`);
    return;
  }
  const { voice, pitch } = voiceOf(who, { voices, language: spoken.language, chosen: chosenVoice(state, who) });
  const over = new AbortController();
  const notice = state.notices.offer(t`Reading aloud: ${name}`, { label: t`Stop`, run: () => stop() });
  stop = () => {
    over.abort();
    speechSynthesis.cancel();
    state.notices.dismiss(notice);
  };
  document.addEventListener(
    'keydown',
    (event) => {
      if (keyOf(event) !== 'Escape') return;
      // The first press stops the voice, and must close nothing.
      event.stopPropagation();
      stop();
    },
    { capture: true, signal: over.signal },
  );
  addEventListener('pagehide', () => stop(), { signal: over.signal });
  for (const piece of pieces) {
    if (over.signal.aborted) return;
    const failed = await say(piece, voice, pitch);
    if (over.signal.aborted) return;
    if (failed !== null) {
      stop();
      state.notices.error(t`Could not read this aloud. ${failed}`);
      return;
    }
  }
  stop();
}

/** @returns why it was not spoken; null: it was, or was stopped. */
function say(text: string, voice: SpeechSynthesisVoice | null, pitch: number): Promise<string | null> {
  const utterance = new SpeechSynthesisUtterance(text);
  if (voice) utterance.voice = voice;
  utterance.lang = voice?.lang ?? spoken.locale;
  utterance.pitch = pitch;
  return new Promise((resolve) => {
    utterance.addEventListener('end', () => resolve(null));
    utterance.addEventListener('error', ({ error }) =>
      resolve(error === 'canceled' || error === 'interrupted' ? null : error),
    );
    speechSynthesis.speak(utterance);
  });
}
