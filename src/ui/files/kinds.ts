/** How a file is shown, by its name. Pure. */
export type ShownAs =
  | { readonly kind: 'text' | 'markdown' | 'patch' }
  | { readonly kind: 'image'; readonly type: string };

/** Pictures that a browser draws without running anything; SVG can hold scripts, and is shown as text. */
const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};

export function shownAs(name: string): ShownAs {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = Object.hasOwn(IMAGES, ending) ? IMAGES[ending] : undefined;
  if (type !== undefined) return { kind: 'image', type };
  if (ending === 'md' || ending === 'markdown') return { kind: 'markdown' };
  return { kind: ending === 'diff' || ending === 'patch' ? 'patch' : 'text' };
}
