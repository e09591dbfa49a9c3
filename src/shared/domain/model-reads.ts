/**
 * How much a model reads, as far as its name tells it for sure. Sources: platform.claude.com,
 * "Context windows", "PDF support" and "Images and vision", November 2026. Of models of other
 * servers nothing is known before they are asked.
 */

export interface ModelReads {
  /** Of a request and its answer together; null: the name does not tell. */
  readonly windowTokens: number | null;
  /** Of all PDFs in one request. */
  readonly pdfPages: number;
  /** Of a whole request, in bytes, pictures and PDFs as base64. */
  readonly requestBytes: number;
  /** In one request. */
  readonly pictures: number;
}

const CLAUDE = { pdfPages: 600, requestBytes: 32_000_000, pictures: 100, windowTokens: null } as const;

/** The first that fits holds. */
const READS: readonly (readonly [name: RegExp, reads: ModelReads])[] = [
  [
    /^claude-(?:3-|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/,
    { ...CLAUDE, pdfPages: 100, windowTokens: 200_000 },
  ],
  [/^claude-/, CLAUDE],
];

/** Null: nothing is known of it. */
export const readsOf = (model: string): ModelReads | null => READS.find(([name]) => name.test(model))?.[1] ?? null;
