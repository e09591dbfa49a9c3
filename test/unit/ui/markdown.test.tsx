import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { coloured } from '../../../src/ui/code/colours.ts';
import { drawn, type DrawingColours } from '../../../src/ui/code/drawing.ts';
import { inertSvg } from '../../../src/ui/code/inert-svg.ts';
import Markdown, { safeUrl } from '../../../src/ui/chat/markdown.tsx';
import { formulaOf, withFormulas } from '../../../src/ui/chat/maths.ts';

afterEach(cleanup);

/** There are no workers here: this one works in the page, with all that the real one has. */
vi.stubGlobal(
  'Worker',
  class extends EventTarget {
    postMessage(
      asked: { code: string; language: string } | { readonly mermaid: string; readonly colours: DrawingColours },
    ) {
      queueMicrotask(() => {
        const data = 'mermaid' in asked ? drawn(asked.mermaid, asked.colours) : coloured(asked.code, asked.language);
        this.dispatchEvent(new MessageEvent('message', { data }));
      });
    }
    terminate() {
      return undefined;
    }
  },
);

const show = (text: string) => render(<Markdown text={text} />).container;

test('raw HTML is shown as the text it is', () => {
  const box = show(
    'before <script>alert(1)</script> <img src=x onerror=alert(1)> <b onclick="x()">bold</b>\n\n<iframe src="https://example.org"></iframe>',
  );
  expect(box.querySelector('script, img, iframe, b')).toBeNull();
  expect(box.textContent).toContain('<script>alert(1)</script>');
  expect(box.textContent).toContain('onerror=alert(1)');
});

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '/api/sessions',
  '//example.org',
  'blob:https://example.org/x',
])('a link to %j leads nowhere', (href) => {
  const box = show(`[words](<${href}>)`);
  expect(box.querySelector('a')).toBeNull();
  expect(box.textContent).toContain('words');
});

test('a link to the web or to mail opens elsewhere, and tells nothing of where it came from', () => {
  const box = show('[a](https://example.org/x) [b](http://example.org) [c](mailto:a@example.org) https://bare.example');
  const links = [...box.querySelectorAll('a')];
  expect(links.map((link) => link.href)).toEqual([
    'https://example.org/x',
    'http://example.org/',
    'mailto:a@example.org',
    'https://bare.example/',
  ]);
  for (const link of links) {
    expect(link.target).toBe('_blank');
    expect(link.rel).toBe('noopener noreferrer nofollow');
  }
});

test('a picture is never fetched: it is a link to where it lies', () => {
  const box = show('![a sketch](https://example.org/s.png) ![x](data:image/png;base64,AAAA)');
  expect(box.querySelector('img')).toBeNull();
  expect(screen.getByRole('link', { name: /Show image from example.org/ }).getAttribute('href')).toBe(
    'https://example.org/s.png',
  );
  expect(box.querySelectorAll('a')).toHaveLength(1);
});

test('tables, lists, ticks and code are set', () => {
  const box = show('| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n```js\nlet x = 1\n```\n\n# Large');
  expect(box.querySelectorAll('td')).toHaveLength(2);
  expect(box.querySelector('input')).toBeNull();
  expect(screen.getByRole('img', { name: 'done' })).toBeDefined();
  expect(box.querySelector('pre code')?.textContent).toContain('let x = 1');
  expect(box.querySelector('h1, h2')).toBeNull();
});

test('the words decide their own direction', () => {
  expect(show('שלום').firstElementChild?.getAttribute('dir')).toBe('auto');
});

test('only absolute addresses of the web or mail are safe', () => {
  expect(safeUrl(undefined)).toBeNull();
  expect(safeUrl('nonsense')).toBeNull();
  expect(safeUrl('ftp://example.org')).toBeNull();
  expect(safeUrl('https://example.org')?.host).toBe('example.org');
});

test('code is set in colours by what it means, as its own text and nothing else, and is copied whole', async () => {
  const code = 'const a = "</code><img src=x onerror=alert(1)>"; // why\nif (a) b();';
  const view = render(<Markdown text={`\`\`\`ts\n${code}\n\`\`\``} />);
  const shown = () => view.container.querySelector('pre code');
  expect(shown()?.textContent).toBe(code);
  await waitFor(() => expect(shown()?.querySelectorAll('span').length).toBeGreaterThan(5));
  expect(shown()?.textContent).toBe(code);
  expect(view.container.querySelector('img')).toBeNull();
  const colour = (text: string) =>
    [...(shown()?.querySelectorAll('span') ?? [])].find((span) => span.textContent?.trim() === text)?.style.color;
  expect(colour('const')).toBe('var(--code-token-keyword)');
  expect(colour('// why')).toBe('var(--code-token-comment)');
  // What grows keeps the colours it has, and what is new follows plainly.
  view.rerender(<Markdown text={`\`\`\`ts\n${code}\nreturn\n\`\`\``} growing />);
  expect(colour('const')).toBe('var(--code-token-keyword)');
  expect(shown()?.textContent).toBe(`${code}\nreturn`);
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: 'Copy code' }));
  expect(await navigator.clipboard.readText()).toBe(`${code}\nreturn`);
  expect(screen.getByText('Copied')).toBeDefined();
});

test('code in a language that nobody knows here stays as it was written', async () => {
  const box = show('```brainfuck\n++[->+<]\n```');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(box.querySelector('pre')?.textContent).toBe('++[->+<]');
});

test.each([
  ['It costs $5 and $10, or $1,000 a month; **$5** or **$10**, not 6$.', null],
  ['$PATH and $HOME, `$x$`, $ x $, \\$5 and US$6, from $5 to$10', null],
  ['```sh\necho $a$\n```', null],
  ['Let $x^2$ cost $5.', ['i x^2']],
  ['\\(a+b\\) and \\[c\\]', ['i a+b', 'd c']],
  ['$$\n\\sum_i i\n$$', ['d \\sum_i i']],
  ['| a |\n|---|\n| $|x|$ and $5 |', ['i |x|']],
  ['`code` $n$-th', ['i n']],
] as const)('in %j are these formulas: %j', (text, formulas) => {
  const set = withFormulas(text);
  const found = Array.from((set ?? '').matchAll(/`([^`]+)`/g), ([, code]) => formulaOf(code)).filter(
    (each) => each !== null,
  );
  expect(set === null ? null : found.map(({ tex, apart }) => `${apart ? 'd' : 'i'} ${tex}`)).toEqual(formulas);
});

test('a formula is set as the browser’s own mathematics, in a table too, and leads nowhere', async () => {
  const box = show(
    'Let $\\frac{a}{b}$ be.\n\n$$\\label{x}\\href{https://a.example}{y} + \\sqrt{2}$$\n\n| a |\n|---|\n| $|x|$ |',
  );
  await waitFor(() => expect(box.querySelectorAll('math')).toHaveLength(2));
  expect(box.querySelector('p mfrac')).not.toBeNull();
  expect(box.querySelector('td math')?.textContent).toBe('|x|');
  expect(box.querySelector('a, [href], [id]')).toBeNull();
  // Links are not let in formulas: it stands as it was written.
  expect(box.querySelector('code')?.textContent).toContain('\\sqrt{2}');
});

test.each(['\\frac{', '\\def\\a{xx}\\a', 'x'.repeat(4_001), '{'.repeat(3_000)])(
  'what cannot be set as a formula stands as it was written: %#',
  async (tex) => {
    const box = show(`\\(${tex}\\) and more`);
    await waitFor(() => expect(box.querySelector('code')?.title).toMatch(/cannot be set/));
    expect(box.querySelector('code')?.textContent).toBe(tex);
    expect(box.textContent).toContain('and more');
  },
);

const COLOURS = { paper: '#ffffff', ink: '#222222' };
const svgOf = (mermaid: string) => {
  const result = drawn(mermaid, COLOURS);
  if ('problem' in result) throw new Error(result.problem);
  const parsed = new DOMParser().parseFromString(result.svg, 'image/svg+xml');
  expect(parsed.querySelector('parsererror')).toBeNull();
  return parsed.documentElement;
};

test('a drawing stands in for its code when it is asked for, as a picture, and goes again', async () => {
  const user = userEvent.setup();
  const box = show('```mermaid\ngraph LR\n  A[Hearth] --> B[Lead]\n```');
  expect(box.querySelector('img')).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Show as a drawing' }));
  const picture = await screen.findByRole('img', { name: 'What the code says, as a drawing' });
  const { src } = picture as HTMLImageElement;
  expect(decodeURIComponent(src)).toMatch(/^data:image\/svg\+xml,<svg [^]*>Hearth<\/text>[^]*<\/svg>$/);
  await user.click(screen.getByRole('button', { name: 'Show the code' }));
  expect(box.querySelector('img')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Show as a drawing' }));
  expect(box.querySelector('pre')?.textContent).toContain('A[Hearth] --> B[Lead]');
});

test('what cannot be drawn says why, beside its code', async () => {
  const user = userEvent.setup();
  const box = show('```mermaid\ngantt\n  title The week\n```');
  await user.click(screen.getByRole('button', { name: 'Show as a drawing' }));
  await screen.findByText(/^Roost draws flowcharts, .* not what begins with “gantt”\.$/);
  expect(box.querySelector('pre')?.textContent).toContain('title The week');
  await user.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByText(/^Roost draws/)).toBeNull();
});

test('a drawing that takes too long is ended', async () => {
  const ended = vi.fn();
  class Stuck extends EventTarget {
    postMessage = () => undefined;
    terminate = ended;
  }
  const usual = globalThis.Worker;
  vi.stubGlobal('Worker', Stuck);
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
    vi.stubGlobal('Worker', usual);
  });
  show('```mermaid\ngraph LR\n  A --> B\n```');
  fireEvent.click(screen.getByRole('button', { name: 'Show as a drawing' }));
  await act(() => vi.runAllTimersAsync());
  expect(screen.getByText('Drawing it took too long.')).toBeTruthy();
  expect(ended).toHaveBeenCalled();
});

test.each([
  ['', 'There is nothing in it to draw.'],
  ['graph TD', 'There is nothing in it to draw.'],
  ['%%{init: {"theme": "dark"}}%%\n', 'There is nothing in it to draw.'],
  [`graph TD\n${'A --> B\n'.repeat(3_000)}`, 'It is too long to be drawn.'],
  [`sequenceDiagram\n${'A->>B: x\n'.repeat(1_200)}`, 'It is too large to be shown.'],
])('%.20j is not drawn: %s', (mermaid, problem) => {
  expect(drawn(mermaid, COLOURS)).toEqual({ problem });
});

test.each([
  'graph TD\n  A["<script>alert(1)</script><img src=x onerror=alert(1)>"] --> B',
  'graph TD\n  A --> B\n  click A "javascript:alert(1)" _blank\n  click B call steal()',
  'graph TD\n  A --> B\n  style A fill:url(https://evil.example/x),stroke:red"/><script>alert(1)</script>',
  'graph TD\n  A --> B\n  classDef x fill:u\\72l(https://evil.example/x)\n  class A x',
  '%%{init: {"securityLevel": "loose", "themeCSS": "@import url(https://evil.example/x)"}}%%\ngraph TD\n  A --> B',
  '---\nconfig:\n  themeCSS: "@import url(https://evil.example/x)"\n---\ngraph TD\n  A --> B',
  'sequenceDiagram\n  A->>B: <a href="https://evil.example">x</a>\n  link A: Site @ https://evil.example',
  'classDiagram\n  class A\n  A : +x() <style>*{background:url(https://evil.example)}</style>',
  'erDiagram\n  A ||--o{ B : "<use href=x>"',
])('nothing in a drawing runs, leads anywhere or is fetched: %j', (mermaid) => {
  const svg = svgOf(mermaid);
  expect(svg.querySelector('script, a, image, use, foreignObject, iframe, [href], [onclick], [onerror]')).toBeNull();
  // Words alone may say an address.
  for (const text of svg.querySelectorAll('text')) text.remove();
  const rest = new XMLSerializer().serializeToString(svg).replace('http://www.w3.org/2000/svg', '');
  expect(rest).not.toMatch(/https?:|@import|javascript:|url\((?!#)|\\/);
  expect(svg.textContent).not.toContain('click');
});

test('what is no shape is left out of a drawing with all that is in it', () => {
  expect(
    inertSvg(
      '<svg onload="x()" style="fill:red"><foreignObject><g><text>no</text></g></foreignObject><a href="https://evil.example"><text>no</text></a>' +
        '<style>@import "https://evil.example/a;b&amp;c";\n text { fill: red }</style><style>text { fill: u&#114;l(//evil.example) }</style><text fill="&quot;&lt;">a &amp; b</text></svg>',
    ),
  ).toBe(
    '<svg style="fill:red"><style>\n text { fill: red }</style><style></style><text fill="&quot;&lt;">a &amp; b</text></svg>',
  );
});
