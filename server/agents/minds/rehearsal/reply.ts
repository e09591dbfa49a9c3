/** What the rehearsal mind does with one request. */
export type ReplyPart =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

export type Reply =
  | { readonly kind: 'say'; readonly parts: readonly ReplyPart[]; readonly cut: boolean }
  | { readonly kind: 'fail' }
  | { readonly kind: 'silent' };

export const words = (...paragraphs: readonly string[]): ReplyPart => ({
  kind: 'words',
  text: paragraphs.join('\n\n'),
});
export const call = (name: string, input: Readonly<Record<string, unknown>>): ReplyPart => ({
  kind: 'call',
  name,
  input,
});
