/** The browser's speech support, and with whom the person talks hands-free on this page. */
import { createStore } from 'zustand/vanilla';
import type { AgentId } from '../../../shared/domain/ids.ts';

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

/** Chromium and Safari have it under a prefixed name, Firefox not at all. */
export function recognitionOf(page: object = globalThis): MakesRecognition | null {
  const { SpeechRecognition, webkitSpeechRecognition } = page as Readonly<Record<string, MakesRecognition | undefined>>;
  return SpeechRecognition ?? webkitSpeechRecognition ?? null;
}

export const canReadAloud = (): boolean => 'speechSynthesis' in globalThis;

export const handsFree = createStore<{ readonly agentId: AgentId | null }>(() => ({ agentId: null }));
export const setHandsFree = (agentId: AgentId | null): void => handsFree.setState({ agentId });

export const canTalkHandsFree = (): boolean => recognitionOf() !== null && canReadAloud();
