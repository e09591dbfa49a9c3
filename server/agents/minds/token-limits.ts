/**
 * What a server's refusal says of its limits: how much the model reads, how much of that was sent,
 * and how much it may write. Servers that count both together (vLLM, OpenRouter, SGLang) refuse a
 * short request for the room that its answer asks for. Their sentences are quoted in
 * `test/relay/token-limits.test.ts`.
 */

export interface SaidLimits {
  /** Tokens that the model reads and writes together; null: it does not say. */
  readonly window: number | null;
  /** Tokens that were sent; null: it does not say. `isLeast`: it stopped counting there. */
  readonly input: number | null;
  readonly isLeast: boolean;
  /** Most tokens of an answer; null: it does not say. */
  readonly output: number | null;
}

const N = String.raw`[\`"']?(\d[\d,_]{0,15})`;
const first = (said: string, patterns: readonly string[]): number | null => {
  for (const pattern of patterns) {
    const found = new RegExp(pattern, 'i').exec(said)?.[1];
    if (found !== undefined) return Number(found.replaceAll(/[,_]/g, ''));
  }
  return null;
};

const WINDOW = [
  String.raw`max(?:imum)?[ _](?:context|model|sequence)[ _]len(?:gth)?[^\d.]{0,20}${N}`,
  String.raw`too large for model with ${N}`,
  String.raw`[\d,]{1,15} \+ [\d,]{1,15} > ${N}`,
  String.raw`context limit[^\d.]{0,20}${N}`,
  String.raw`must be <= ${N}`,
  String.raw`"?n_ctx"?:? ?\(?${N}`,
  String.raw`context (?:size|length|window)[^\d]{0,40}?${N}`,
  String.raw`[\d,]{1,15} (?:tokens )?> ${N}(?! -)`,
];
const INPUT = [
  String.raw`context limit: ${N} \+`,
  String.raw`${N} (?:in|from) the (?:messages|prompt|input)`,
  String.raw`${N} tokens (?:in|from) the (?:input|messages|prompt)`,
  String.raw`${N} of text input`,
  String.raw`has ${N} input tokens`,
  String.raw`contains at least ${N} input tokens`,
  String.raw`Given: ${N} \`?inputs`,
  String.raw`prompt contains(?: at least)? ${N}`,
  String.raw`"?n_prompt_tokens"?:? ?${N}`,
  String.raw`messages resulted in ${N}`,
  String.raw`request \(?${N} tokens`,
  String.raw`prompt is too long: ${N}`,
  String.raw`input (?:length|tokens?)[^\d.]{0,20}${N}`,
  String.raw`request(?:ed)?[^\d.]{0,30}${N}`,
  String.raw`${N} (?:tokens )?> [\d,]{1,15}(?! -)`,
];
const OUTPUT = [
  String.raw`supports at most ${N}`,
  String.raw`max_(?:completion_|new_|output_)?tokens:? ?[\d,]{1,15} > ${N}`,
  String.raw`(?<!\+ \`?)max_(?:completion_|new_|output_)?tokens\`?[^\d.]{0,40}(?:less than or equal to|at most|<=|cannot exceed|not exceed) ${N}`,
  String.raw`max_(?:completion_|new_|output_)?tokens\`?[^[.]{0,40}\[\d{1,9}, ?${N}\]`,
  String.raw`maximum (?:allowed )?(?:number of )?output[^\d.]{0,30}${N}`,
];
const OF_OUTPUT =
  /max_(?:completion_|new_|output_)?tokens|(?:completion|output|draft) tokens|in the (?:completion|output)|for the completion/i;

/** As Anthropic, llama.cpp, LM Studio, LiteLLM, vLLM and OpenAI's own say it. */
export const isTooLong = (said: string): boolean =>
  /too (long|large|many tokens)|context[ _]?(length|window|size)|exceed_context_size|exceeds?.{0,60}(context|tokens)|maximum context|max_model_len|input length and `?max_tokens|draft tokens|must be <= \d/i.test(
    said,
  );

/** Null: the refusal speaks of no limit. `sent`: most tokens of the answer that was asked for. */
export function limitsIn(said: string, sent: number): SaidLimits | null {
  const ofOutput = OF_OUTPUT.test(said);
  const output = ofOutput ? first(said, OUTPUT) : null;
  const window = output === null ? first(said, WINDOW) : null;
  if (output === null && (window === null || !isTooLong(said))) return null;
  let input = output === null ? first(said, INPUT) : null;
  // A router counts tools beside the text.
  const tools = first(said, [String.raw`${N} of tool input`]);
  if (input !== null && tools !== null) input += tools;
  // A sum of both is no input.
  if (input !== null && ofOutput && window !== null && input > window && input >= sent) input -= sent;
  return { window, input, isLeast: /at least/i.test(said), output };
}
