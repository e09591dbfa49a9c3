/**
 * How requests are written to one server: first as well as it can be done, and easier where that is
 * refused. What it turned out not to understand is learned once, and kept while the relay runs.
 */
import type { MindErrorKind, MindRequest } from '../../contracts/mind.ts';
import { readsWeb, searchesTools, thinksAdaptively } from './settings.ts';
import { refusesWeb } from './web.ts';
import { createRoom } from './room.ts';
import { isWellFormed, mapStrings } from '../../platform/well-formed.ts';
import { refusesSearch } from './tool-params.ts';
import { createSight, speaksOfSight } from './sight.ts';
import type { Shape } from './wire.ts';

export interface ShapesDeps {
  /** It is Anthropic’s own. */
  readonly official: boolean;
  readonly thinking: boolean;
  /** `every`: each of its models does. */
  readonly searching: boolean | 'every';
  readonly web: boolean;
}

/** `status`: 0: an error in mid-stream. `whole`: with the fields beside its words. */
export interface Refused {
  readonly status: number;
  readonly said: string;
  readonly whole: string;
  readonly kind: MindErrorKind;
}

export interface Shapes {
  first(model: string, request: MindRequest): Shape;
  /** The next easier way to write the same request; null: there is none. */
  easier(shape: Shape, refused: Refused, request: MindRequest): Shape | null;
  /** Whether this model is told of the provider's own tools for the web. */
  web(model: string): boolean;
  /** Whether this model searches by itself for deferred tools. */
  searches(model: string): boolean;
  /** It was answered in this shape. */
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
 * As Ollama, vLLM without a parser, llama.cpp without `--jinja`, Groq, LM Studio and OpenRouter say
 * it.
 */
const USES_NO_TOOLS =
  /(?:not|n't|no|without) (?:\w+ ){0,2}(?:support|accept|allow|implement|capab)[^.]{0,40}(?:tool|function)|(?:tool|function)[^.]{0,60}(?:not|n't|un)[ -]?(?:\w+ )?(?:support|available|enabled|allowed|implemented|capable)|--jinja|enable-auto-tool-choice|tool-call-parser|no endpoints found that support tool/i;
/** It is one of the tools, or one field of them, that it does not take. */
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
      // Until nothing more can be left out: then it was something else.
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
