/** What this browser has for speech; the parts that use it are fetched when they are used. */

/**
 * The part of the Web Speech API's recognition that is used here:
 * https://webaudio.github.io/web-speech-api/
 */
export interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  abort(): void;
}
type MakesRecognition = new () => Recognition;

/** Chromium and Safari have it under a name of theirs, Firefox not at all. */
export function recognitionOf(page: object = globalThis): MakesRecognition | null {
  const { SpeechRecognition, webkitSpeechRecognition } = page as Readonly<Record<string, MakesRecognition | undefined>>;
  return SpeechRecognition ?? webkitSpeechRecognition ?? null;
}

export const canReadAloud = (): boolean => 'speechSynthesis' in globalThis;
