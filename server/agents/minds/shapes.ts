/**
 * How requests are written for one server: first in the richest form, then in a simpler one where
 * that is refused. What a server does not understand is learned once and remembered while the relay
 * runs.
 */
import type { MindErrorKind, MindRequest } from './requests.ts';
import { isWellFormed, mapStrings } from '../../platform/json-bounds.ts';
import { plainTools, type Shape } from './wire.ts';
import { readsWeb, ROOM_LIMITS, searchesTools, thinksAdaptively } from './settings.ts';
import { limitsIn, sizeOfRequest } from './token-limits.ts';
import { refusesSearch, refusesWeb, sizeOfTools } from './web.ts';
import { createSight, speaksOfSight } from './sight.ts';

// Length of the answer and room for tools, for models with a small context window. A server that
// counts input and output together refuses a request because of the answer length that it asks for.
// The answer length is then set to what is left. Limits that the server states are remembered while
// the relay runs.

type RoomShape = Pick<Shape, 'maxTokens' | 'toolless'>;

interface Room {
  first(model: string, request: MindRequest, toolless: boolean): RoomShape;
  /**
   * Called after a refusal. `too-long`: the input must be shorter. Null: the refusal had another
   * cause.
   */
  less(shape: RoomShape, said: string, request: MindRequest): RoomShape | 'too-long' | null;
  /** Tools were left out because there is no room for them. */
  isCause(model: string, request: MindRequest): boolean;
}

interface Known {
  window: number | null;
  output: number | null;
  bytesPerToken: number;
}

function createRoom(): Room {
  const models = new Map<string, Known>();
  const limitsOf = (model: string): Known => {
    const there = models.get(model);
    if (there) return there;
    const made: Known = { window: null, output: null, bytesPerToken: ROOM_LIMITS.bytesPerToken };
    models.set(model, made);
    return made;
  };
  const bytesOf = (request: MindRequest, toolless: boolean) =>
    sizeOfRequest({ ...request, tools: toolless ? [] : request.tools }, false).bytes;

  /** Whether tools alone would fill the context window. */
  function isCrowded({ window, bytesPerToken }: Known, request: MindRequest): boolean {
    if (window === null || request.tools.length === 0) return false;
    const { bytes } = sizeOfTools(plainTools(request.tools, { toolless: false }));
    return bytes / bytesPerToken > window * ROOM_LIMITS.toolsMost;
  }

  function fit(model: string, request: MindRequest, toolless: boolean): number {
    const { window, output, bytesPerToken } = limitsOf(model);
    const left = window === null ? Infinity : window - Math.ceil(bytesOf(request, toolless) / bytesPerToken);
    // The estimate may be wrong, so a small remainder is not trusted: the server states the limit
    // better.
    return Math.min(output ?? Infinity, Math.max(left, ROOM_LIMITS.leastAnswer));
  }

  return {
    first(model, request, without) {
      const toolless = without || isCrowded(limitsOf(model), request);
      return { toolless, maxTokens: fit(model, request, toolless) };
    },
    isCause: (model, request) => isCrowded(limitsOf(model), request),
    less({ toolless, maxTokens }, said, request) {
      const requestedTokens = Math.min(request.maxTokens, maxTokens);
      const limits = limitsIn(said, requestedTokens);
      if (!limits) return null;
      const of = limitsOf(request.model);
      const { window, input, isLeast, output } = limits;
      if (output !== null && output > 0) {
        of.output = output;
        return output < requestedTokens ? { toolless, maxTokens: output } : null;
      }
      if (window === null || window <= 0) return null;
      of.window = window;
      const bytes = bytesOf(request, toolless);
      if (input !== null && input > 0 && !isLeast) of.bytesPerToken = Math.max(1, bytes / input);
      if (!toolless && isCrowded(of, request)) return { toolless: true, maxTokens: fit(request.model, request, true) };
      const counted = input === null || isLeast ? Math.ceil(bytes / of.bytesPerToken) : input;
      const left = window - counted;
      // At least halves the length, so that a server with a wrong count does not cause endless
      // retries.
      const next = left < requestedTokens ? left : Math.floor(requestedTokens / 2);
      return next < ROOM_LIMITS.leastAnswer ? 'too-long' : { toolless, maxTokens: next };
    },
  };
}

interface ShapesDeps {
  /** The server is Anthropic's own. */
  readonly official: boolean;
  readonly thinking: boolean;
  /** `every`: all models of the server do. */
  readonly searching: boolean | 'every';
  readonly web: boolean;
}

/** `status`: 0: an error in mid-stream. `whole`: the body with the fields beside the message. */
export interface Refused {
  readonly status: number;
  readonly said: string;
  readonly whole: string;
  readonly kind: MindErrorKind;
}

interface Shapes {
  first(model: string, request: MindRequest): Shape;
  /** The next simpler form of the same request. Null: there is none. */
  easier(shape: Shape, refused: Refused, request: MindRequest): Shape | null;
  /** Whether this model gets the provider's own web tools. */
  web(model: string): boolean;
  /** Whether this model searches for deferred tools by itself. */
  searches(model: string): boolean;
  /** The request was answered in this shape. */
  answered(model: string, shape: Shape, request: MindRequest): void;
}

function isExact({ system, messages }: MindRequest): boolean {
  let wellFormed = true;
  mapStrings([system, messages], (text) => {
    wellFormed &&= isWellFormed(text);
    return text;
  });
  return wellFormed;
}

/**
 * Wordings of Ollama, vLLM without a parser, llama.cpp without `--jinja`, Groq, LM Studio and
 * OpenRouter.
 */
const USES_NO_TOOLS =
  /(?:not|n't|no|without) (?:\w+ ){0,2}(?:support|accept|allow|implement|capab)[^.]{0,40}(?:tool|function)|(?:tool|function)[^.]{0,60}(?:not|n't|un)[ -]?(?:\w+ )?(?:support|available|enabled|allowed|implemented|capable)|--jinja|enable-auto-tool-choice|tool-call-parser|no endpoints found that support tool/i;
/** The server refuses one of the tools, or one field of them. */
const OF_ONE_TOOL = /tools?\s*(?:\[\d|\.\d|\d)|schema|propert|\bstrict\b/i;
export const usesNoTools = (said: string): boolean => USES_NO_TOOLS.test(said) && !OF_ONE_TOOL.test(said);

const hasThoughts = ({ messages }: MindRequest) =>
  messages.some(({ blocks }) => blocks.some(({ kind }) => kind === 'thinking'));

export function createShapes({ official, thinking, searching, web }: ShapesDeps): Shapes {
  let plain = false;
  const unthinking = new Set<string>();
  const unsearching = new Set<string>();
  const sight = createSight({ official });
  const webless = new Set<string>();
  const searchesOf = (model: string) =>
    (searching === 'every' || (searching && searchesTools(model))) && !unsearching.has(model);
  const webOf = (model: string) => web && readsWeb(model) && !webless.has(model);

  const toolless = new Set<string>();
  const completionTokens = new Set<string>();
  const thoughtful = new Set<string>();
  const room = createRoom();

  const first = (model: string, request: MindRequest): Shape => ({
    ...room.first(model, request, toolless.has(model)),
    completionTokens: completionTokens.has(model),
    thoughts: thoughtful.has(model),
    plain,
    thinking: thinking && thinksAdaptively(model) && !unthinking.has(model),
    wellFormed: false,
    searching: searchesOf(model),
    unseen: sight.first(model, request),
    web: webOf(model),
  });

  return {
    first,
    web: webOf,
    searches: searchesOf,
    easier(shape, { status, said, whole, kind }, request) {
      const less = room.less(shape, whole, request);
      if (less === 'too-long') return null;
      if (less) return { ...shape, ...less };
      if (kind === 'too-large') return null;
      if (!shape.toolless && request.tools.length > 0 && usesNoTools(said)) return { ...shape, toolless: true };
      const ofSight = speaksOfSight(said);
      // Some servers fail over a picture where others refuse it.
      if (status !== 400 && status !== 422 && !(status >= 500 && ofSight)) return null;
      const seesLess = () => {
        const unseen = sight.less(shape.unseen, said, request);
        return unseen && { ...shape, unseen };
      };
      if (status >= 500) return seesLess();
      if (shape.searching && refusesSearch(said)) return { ...shape, searching: false };
      if (shape.web && request.tools.some(({ provider }) => provider) && refusesWeb(said))
        return { ...shape, web: false };
      if (shape.thinking && /thinking/i.test(said)) return { ...shape, thinking: false };
      if (!shape.completionTokens && /max_completion_tokens/.test(said)) return { ...shape, completionTokens: true };
      if (!shape.thoughts && /reasoning/i.test(said) && hasThoughts(request)) return { ...shape, thoughts: true };
      // Repeats until nothing more can be left out. Then the refusal had another cause.
      if (ofSight || shape.unseen.next !== null) {
        const lessSeen = seesLess();
        if (lessSeen) return lessSeen;
      }
      if (!shape.wellFormed && !isExact(request)) return { ...shape, wellFormed: true };
      if (!shape.plain && !official) return { ...shape, plain: true };
      return seesLess();
    },
    answered(model, shape, request) {
      const tried = first(model, request);
      sight.answered(model, shape.unseen, request);
      if (shape.plain) plain = true;
      if (shape.toolless && !room.isCause(model, request)) toolless.add(model);
      if (shape.completionTokens) completionTokens.add(model);
      if (shape.thoughts) thoughtful.add(model);
      if (tried.searching && !shape.searching) unsearching.add(model);
      if (tried.web && !shape.web) webless.add(model);
      if (tried.thinking && !shape.thinking) unthinking.add(model);
    },
  };
}
