/** How requests are written to one server: first as well as it can be done, and easier where that is refused. What it turned out not to understand is learned once, and kept while the relay runs. */
import type { MindRequest } from './mind.ts';
import { readsWeb, searchesTools, thinksAdaptively } from './settings.ts';
import { refusesWeb } from './web.ts';
import { isWellFormed, mapStrings } from './well-formed.ts';
import { refusesSearch } from './tool-params.ts';
import { createSight, speaksOfSight } from './sight.ts';
import type { Shape } from './wire.ts';

export interface ShapesDeps {
  /** It is Anthropic’s own. */
  readonly official: boolean;
  readonly thinking: boolean;
  readonly searching: boolean;
  readonly web: boolean;
}

export interface Shapes {
  first(model: string, request: MindRequest): Shape;
  /** The next easier way to write the same request; null: there is none. */
  easier(shape: Shape, refused: { readonly status: number; readonly said: string }, request: MindRequest): Shape | null;
  /** Whether this model is told of the provider's own tools for the web. */
  web(model: string): boolean;
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

export function createShapes({ official, thinking, searching, web }: ShapesDeps): Shapes {
  let plain = false;
  const unthinking = new Set<string>();
  const unsearching = new Set<string>();
  const sight = createSight({ official });
  const webless = new Set<string>();
  const webOf = (model: string) => web && readsWeb(model) && !webless.has(model);

  const first = (model: string, request: MindRequest): Shape => ({
    plain,
    thinking: thinking && thinksAdaptively(model) && !unthinking.has(model),
    wellFormed: false,
    searching: searching && searchesTools(model) && !unsearching.has(model),
    unseen: sight.first(model, request),
    web: webOf(model),
  });

  return {
    first,
    web: webOf,
    easier(shape, { status, said }, request) {
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
      // Until nothing more can be left out: then it was something else.
      if (ofSight || shape.unseen.next !== null) {
        const less = seesLess();
        if (less) return less;
      }
      if (!shape.wellFormed && !isExact(request)) return { ...shape, wellFormed: true };
      if (!shape.plain && !official) return { ...shape, plain: true };
      return seesLess();
    },
    answered(model, shape, request) {
      const tried = first(model, request);
      sight.answered(model, shape.unseen, request);
      if (shape.plain) plain = true;
      if (tried.searching && !shape.searching) unsearching.add(model);
      if (tried.web && !shape.web) webless.add(model);
      if (tried.thinking && !shape.thinking) unthinking.add(model);
    },
  };
}
