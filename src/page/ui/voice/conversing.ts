/** A conversation by voice alone, as a state machine. Pure. */

export type Conversing =
  /** It hears the person. `heard`: the words that are not sent yet. */
  | { readonly kind: 'listening'; readonly heard: string }
  /** The words are sent, and the agent has not answered yet. */
  | { readonly kind: 'waiting' }
  /** The answer is read aloud. */
  | { readonly kind: 'speaking'; readonly text: string };

export type VoiceEvent =
  /** Words that are final. */
  | { readonly kind: 'heard'; readonly text: string }
  /** The person is speaking; these words may still change. */
  | { readonly kind: 'hearing'; readonly text: string }
  /** The person has said nothing for a while. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'answered'; readonly text: string }
  /** The answer was read to its end. */
  | { readonly kind: 'spoken' };

export type VoiceAct =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'speak'; readonly text: string }
  | { readonly kind: 'hush' };

export interface Step {
  readonly state: Conversing;
  readonly act: VoiceAct | null;
}

export const LISTENING: Conversing = { kind: 'listening', heard: '' };

/** Words by which the person interrupts. Fewer may be a noise. */
const BARGE_WORDS = 2;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The microphone hears the loudspeaker: most of these words are being read aloud. */
export function isEcho(heard: string, spoken: string): boolean {
  const said = new Set(wordsOf(spoken));
  const words = wordsOf(heard);
  return words.length > 0 && words.filter((word) => said.has(word)).length > words.length / 2;
}

const stays = (state: Conversing): Step => ({ state, act: null });

function whileSpeaking(state: Extract<Conversing, { kind: 'speaking' }>, event: VoiceEvent): Step {
  switch (event.kind) {
    case 'hearing':
    case 'heard': {
      if (wordsOf(event.text).length < BARGE_WORDS || isEcho(event.text, state.text)) return stays(state);
      const heard = event.kind === 'heard' ? event.text : '';
      return { state: { kind: 'listening', heard }, act: { kind: 'hush' } };
    }
    case 'answered':
      return { state: { kind: 'speaking', text: event.text }, act: { kind: 'speak', text: event.text } };
    case 'spoken':
      return stays(LISTENING);
    case 'pause':
      return stays(state);
  }
}

export function converse(state: Conversing, event: VoiceEvent): Step {
  if (state.kind === 'speaking') return whileSpeaking(state, event);
  switch (event.kind) {
    case 'heard': {
      const before = state.kind === 'listening' ? state.heard : '';
      return stays({ kind: 'listening', heard: `${before} ${event.text}`.trim() });
    }
    case 'pause':
      if (state.kind !== 'listening' || state.heard === '') return stays(state);
      return { state: { kind: 'waiting' }, act: { kind: 'send', text: state.heard } };
    case 'answered':
      // Words of the person that are not sent yet go first.
      if (event.text.trim() === '' || (state.kind === 'listening' && state.heard !== '')) return stays(state);
      return { state: { kind: 'speaking', text: event.text }, act: { kind: 'speak', text: event.text } };
    case 'hearing':
    case 'spoken':
      return stays(state);
  }
}
