import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { coloured } from '../../../../../src/page/ui/code/colours.ts';
import { type DrawingColours, drawn, inertSvg } from '../../../../../src/page/ui/code/drawing.ts';
import Markdown, { safeUrl } from '../../../../../src/page/ui/chat/markdown.tsx';

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

test('opens links to the web or mail elsewhere, without a referrer', () => {
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

test('shows a picture as a link, and never fetches it', () => {
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

/** What is set, as HTML without what is about its looks. */
const htmlOf = (text: string) =>
  show(text)
    .innerHTML.replace(/<span>([^<]*)<\/span>/g, '$1')
    .replace(/ (?:class|dir|translate|style|target|rel|tabindex|role|aria-label)="[^"]*"/g, '')
    .replace(/<span> \(opens in a new tab\)<\/span>/g, '')
    .replace(/^<div>|<\/div>$/g, '');

test.each([
  ['含**「重点」**内容', '<p>含<strong>「重点」</strong>内容</p>'],
  ['**注意：**请看', '<p><strong>注意：</strong>请看</p>'],
  ['これは**『本』**です', '<p>これは<strong>『本』</strong>です</p>'],
  ['중요한 **“말”**을', '<p>중요한 <strong>“말”</strong>을</p>'],
  ['3~5天，100~200元', '<p>3~5天，100~200元</p>'],
  ['~~没有~~了，~一~', '<p><del>没有</del>了，~一~</p>'],
])('emphasis in %j goes by the rules of scripts without spaces', (text, html) => {
  expect(htmlOf(text)).toBe(html);
});

test.each([
  ['见https://example.com/a，谢谢', 'https://example.com/a', '见', '，谢谢'],
  ['（https://example.com/a?b=c）。', 'https://example.com/a?b=c', '（', '）。'],
  ['「https://example.com/路径」', 'https://example.com/路径', '「', '」'],
  ['https://example.com！', 'https://example.com', '', '！'],
  ['https://example.com：好', 'https://example.com', '', '：好'],
  ['https://example.com？', 'https://example.com', '', '？'],
  ['www.example.com。', 'www.example.com', '', '。'],
  ['写给 a@example.com，好', 'a@example.com', '写给 ', '，好'],
  ['See https://en.wikipedia.org/wiki/A_(b), ok', 'https://en.wikipedia.org/wiki/A_(b)', 'See ', ', ok'],
])('ends the address in %j where it ends', (text, address, before, after) => {
  const link = show(text).querySelector('a');
  expect(link?.firstElementChild?.textContent).toBe(address);
  expect(link?.previousSibling?.textContent ?? '').toBe(before);
  expect(link?.nextSibling?.textContent ?? '').toBe(after);
});

test('breaks lines in an answer as written, and in a file by paragraph', () => {
  expect(htmlOf('Roses\nViolets\n\n- Street 1\n  City')).toBe(
    '<p>Roses<br>Violets</p><ul><li><span>Street 1<br>City</span></li></ul>',
  );
  expect(htmlOf('x<br>\ny<br/>z')).toBe('<p>x<br>y<br>z</p>');
  const file = render(<Markdown text={'Roses\nViolets'} breaks={false} />).container;
  expect(file.querySelector('br')).toBeNull();
  expect(file.textContent).toBe('Roses\nViolets');
});

test('HTML that is not shown as such keeps its lines', () => {
  const html = '<div align="center">\n  <p>Hi <b>you</b></p>\n</div>';
  const [shown] = show(`Before.\n\n${html}\n\nAfter.`).querySelectorAll('.plain');
  expect(shown?.textContent).toBe(html);
});

test.each([
  [
    'H<sub>2</sub>O, x<sup>2</sup>, <kbd>Ctrl</kbd>+<KBD class="k">C</KBD>',
    '<p>H<sub>2</sub>O, x<sup>2</sup>, <kbd>Ctrl</kbd>+<kbd>C</kbd></p>',
  ],
  [
    '| a |\n|---|\n| x<br>y<sub>1</sub> |',
    '<div><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>x<br>y<sub>1</sub></td></tr></tbody></table></div>',
  ],
  ['<sub>open, **b <sup>x** y</sup>', '<p>&lt;sub&gt;open, <strong>b &lt;sup&gt;x</strong> y&lt;/sup&gt;</p>'],
  ['`<br>` and \\<br>', '<p><code>&lt;br&gt;</code> and &lt;br&gt;</p>'],
  [
    '<details>\n<summary>Why **so**</summary>\n\nBecause.\n\n- one\n\n</details>\n\nAfter.',
    '<details><summary>Why <strong>so</strong></summary><p>Because.</p><ul><li><span>one</span></li></ul></details><p>After.</p>',
  ],
  [
    '<details open ontoggle="alert(1)"><summary>S</summary>The answer is **42**.</details> tail',
    '<details open=""><summary>S</summary><p>The answer is <strong>42</strong>.</p><p>tail</p></details>',
  ],
  [
    '- item\n\n  <details><summary>in</summary>\n\n  x\n\n  </details>\n- two',
    '<ul><li><p>item</p><details><summary>in</summary><p>x</p></details></li><li><p>two</p></li></ul>',
  ],
  [
    '<details><summary>1</summary>\n\n<details><summary>2</summary>\n\nin\n\n</details>\n\nout\n\n</details>',
    '<details><summary>1</summary><details><summary>2</summary><p>in</p></details><p>out</p></details>',
  ],
  ['<details>\nnot closed yet', '<details><summary>Details</summary><p>not closed yet</p></details>'],
  ['</details> <summary>x</summary>', '<p>&lt;/details&gt; &lt;summary&gt;x&lt;/summary&gt;</p>'],
])('renders the harmless elements of %j without their attributes', (text, html) => {
  expect(htmlOf(text)).toBe(html);
});

test('every block decides its own direction, and code decides none', () => {
  const box = show(
    'Hello.\n\nשלום `code`\n\n`code` שלום\n\n- one\n- אחת\n\n> שלום\n\n| שם |\n|---|\n| name |\n\n# مرحبا',
  );
  const dirs = (selector: string) =>
    Array.from(box.querySelectorAll(selector), (element) => element.getAttribute('dir'));
  expect(new Set(dirs('p, li, td, th, h3'))).toEqual(new Set(['auto']));
  expect(dirs('code')).toEqual(['ltr', 'ltr']);
  expect(dirs('blockquote, .md-table')).toEqual(['rtl', 'rtl']);
});

test('boxes to tick stand in the place of marks, in lists within lists too, beside items that keep theirs', () => {
  const box = show(
    '- [x] done\n  - [ ] within\n  - plain\n- plain\n- [ ] open\n\n1. [X] numbered\n2. [link](https://a.example)\n3. [x]tight',
  );
  const tasks = Array.from(box.querySelectorAll('li'), (item) => item.className);
  expect(tasks).toEqual(['md-task', 'md-task', '', '', 'md-task', 'md-task', '', '']);
  expect(box.querySelectorAll('li li .md-check')).toHaveLength(1);
  expect(Array.from(box.querySelectorAll('.md-check'), (each) => each.getAttribute('aria-label'))).toEqual([
    'done',
    'to do',
    'to do',
    'done',
  ]);
});

test('wraps text beside an element in an element of its own', () => {
  const box = show('a *b* c $x$ d\n\n- e\n  - f `g` h\n\n[i *j*](https://a.example) k\n\n```js\nlet a = 1;\n```');
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const beside: string[] = [];
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode as Text;
    if (parentElement && parentElement.childNodes.length > 1) beside.push(data);
  }
  // What is said to those who only hear the page stands beside nothing that changes.
  expect(beside.filter((text) => text.trim() !== '' && !text.includes('opens in a new tab'))).toEqual([]);
});

test('accepts only absolute addresses of the web or mail', () => {
  expect(safeUrl(undefined)).toBeNull();
  expect(safeUrl('nonsense')).toBeNull();
  expect(safeUrl('ftp://example.org')).toBeNull();
  expect(safeUrl('https://example.org')?.host).toBe('example.org');
});

test('colours code without changing its text, and copies it whole', async () => {
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

/** The formulas in a text, each with how it stands. */
const formulasIn = (text: string) =>
  Array.from(show(text).querySelectorAll<HTMLElement>('[data-tex]'), ({ dataset }) => {
    return `${dataset['apart'] === 'true' ? 'd' : 'i'} ${dataset['tex']}`;
  });

test.each([
  'It costs $5 and $10, or $1,000 a month; **$5** or **$10**, not 6$.',
  '$PATH and $HOME, `$x$`, $ x $, \\$5 and US$6, from $5 to$10',
  '```sh\necho $a$\n```',
  '    echo $a$ $b$',
  'export PATH=$HOME/bin:$PATH',
  '把$A改成$B',
  '变量 $foo、$bar 和 $baz。',
  '从$5到$10，比$6便宜，送$。',
  'echo "$@" "$*" $? $! $$ and kill $$; echo $$',
  '${HOME}/a:${PATH} $(pwd)/$(date) ${a}_${b}',
  'foreach ($rows as $key => $row) { $sum += $row["price"]; }',
  "$('#a').text($('#b').val())",
  '^foo$|bar$ and [a-z]$|[0-9]$ and (x)$ or (y)$',
  '| price | of |\n|---|---|\n| $5 | $6 |\n|$a|$b|',
  '- $5\n- $6\n- $HOME/x:$PATH',
  '[$5](https://a.example/?a=$x$y) and https://a.example/$x$/y and <https://a.example/$x$>',
  '$PROJECT_DIR$/src and 100$%$',
  'Match foo\\(\\d+\\) or \\[a-z\\]+ or \\(\\d{3}\\) \\d{3}-\\d{4}',
  'sed "s/\\(.*\\)-\\(.*\\)/\\2-\\1/" and grep "\\(foo\\|bar\\)"',
  '- \\[ \\] open\n- \\[x\\] done\n\n\\[optional\\] and \\[not a link\\](https://a.example) and \\[1\\]',
  'C:\\\\(x\\\\) and \\\\[x\\\\]',
])('finds no formulas in %j, and loses nothing', (text) => {
  expect(formulasIn(text)).toEqual([]);
});

test('keeps the signs of text that is no formula', () => {
  expect(show('export PATH=$HOME/bin:$PATH').textContent).toBe('export PATH=$HOME/bin:$PATH');
  expect(show('把$A改成$B').textContent).toBe('把$A改成$B');
  expect(show('Match foo\\(\\d+\\)').textContent).toBe('Match foo(\\d+)');
});

test.each([
  ['Let $x^2$ cost $5.', ['i x^2']],
  ['\\(a+b\\) and \\[c\\]', ['i a+b', 'd c']],
  ['$$\n\\sum_i i\n$$', ['d \\sum_i i']],
  ['$$x$$', ['d x']],
  ['$$\na\n- b\n+ c\n= d\n# e\n$$', ['d a\n- b\n+ c\n= d\n# e']],
  [
    '\\[\n\\begin{aligned}\na &= b \\\\[2pt]\nc &= d\n\\end{aligned}\n\\]',
    ['d \\begin{aligned}\na &= b \\\\[2pt]\nc &= d\n\\end{aligned}'],
  ],
  ['| a |\n|---|\n| $|x|$ and $5 |', ['i |x|']],
  ['`code` $n$-th and \\(n\\)th', ['i n', 'i n']],
  ['把$x$改成$y$，价格$5', ['i x', 'i y']],
  ['設$x$は整数、\\(y\\)も。', ['i x', 'i y']],
  ['1. First\n\n    $$a$$\n\n2. \\(b\\)\n\n> $c$', ['d a', 'i b', 'i c']],
  ['**Answer: \\(x\\)** (with $y$), “$z$”.', ['i x', 'i y', 'i z']],
  ['# About $x$', ['i x']],
  ["$\\text{costs \\$5}$ and $f'$", ['i \\text{costs \\$5}', "i f'"]],
  ['速度为$$v=\\frac{距离}{时间}$$。', ['d v=\\frac{距离}{时间}']],
  ['$100 and $x_1$', ['i x_1']],
] as const)('finds in %j these formulas: %j', (text, formulas) => {
  expect(formulasIn(text)).toEqual(formulas);
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
  'leaves an invalid formula as written: %#',
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
  await user.click(screen.getByRole('button', { name: 'Show as a diagram' }));
  const picture = await screen.findByRole('img', { name: 'Diagram of the code' });
  const { src } = picture as HTMLImageElement;
  expect(decodeURIComponent(src)).toMatch(/^data:image\/svg\+xml,<svg [^]*>Hearth<\/text>[^]*<\/svg>$/);
  await user.click(screen.getByRole('button', { name: 'Show the code' }));
  expect(box.querySelector('img')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Show as a diagram' }));
  expect(box.querySelector('pre')?.textContent).toContain('A[Hearth] --> B[Lead]');
});

test('says why a drawing failed, beside its code', async () => {
  const user = userEvent.setup();
  const box = show('```mermaid\ngantt\n  title The week\n```');
  await user.click(screen.getByRole('button', { name: 'Show as a diagram' }));
  await screen.findByText(/^Roost draws flowcharts, .* but not “gantt”\.$/);
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
  fireEvent.click(screen.getByRole('button', { name: 'Show as a diagram' }));
  await act(() => vi.runAllTimersAsync());
  expect(screen.getByText('Drawing took too long.')).toBeTruthy();
  expect(ended).toHaveBeenCalled();
});

test.each([
  ['', 'The diagram is empty.'],
  ['graph TD', 'The diagram is empty.'],
  ['%%{init: {"theme": "dark"}}%%\n', 'The diagram is empty.'],
  [`graph TD\n${'A --> B\n'.repeat(3_000)}`, 'The diagram is too large.'],
  [`sequenceDiagram\n${'A->>B: x\n'.repeat(1_200)}`, 'The diagram is too large.'],
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
])('runs, links and fetches nothing in a drawing: %j', (mermaid) => {
  const svg = svgOf(mermaid);
  expect(svg.querySelector('script, a, image, use, foreignObject, iframe, [href], [onclick], [onerror]')).toBeNull();
  // Words alone may say an address.
  for (const text of svg.querySelectorAll('text')) text.remove();
  const rest = new XMLSerializer().serializeToString(svg).replace('http://www.w3.org/2000/svg', '');
  expect(rest).not.toMatch(/https?:|@import|javascript:|url\((?!#)|\\/);
  expect(svg.textContent).not.toContain('click');
});

test.each([
  ['graph TD;\n  A-->B;\n  B-->C;', 'A B C'],
  ['graph TD; A-->B; B-->C', 'A B C'],
  ['flowchart LR;\r\n A["a; b"] --> B{"c"};\r\n', 'a; b c'],
  ['graph\n  A-->|y;z|B', 'A B y;z'],
  ['graph TD;\nsubgraph one;\nA-->B;\nend;', 'A B one'],
  ['graph TD;A--yes-->B;B-.->C;C==>D;D---E;E --x F;my-node-->A', 'A B C D E F my-node yes'],
  ['stateDiagram-v2;\n  Open --> Shut;\n  Shut --> Open;', 'Open Shut'],
  ['sequenceDiagram;\n  A->>B: hi; there', 'A B hi; there'],
  ['classDiagram;\n  class A;\n  A <|-- B;', 'A B'],
])('%j is drawn, with its statements ended by semicolons', (mermaid, words) => {
  const said = Array.from(svgOf(mermaid).querySelectorAll('text'), ({ textContent }) => textContent?.trim() ?? '');
  for (const word of words.match(/\S+; \S+|\S+/g) ?? []) expect(said).toContain(word);
  expect(said.join(' ').replace(/[ay];\s?[bz]|hi; there/g, '')).not.toContain(';');
});

test('removes what is no shape from a drawing with its contents', () => {
  expect(
    inertSvg(
      '<svg onload="x()" style="fill:red"><foreignObject><g><text>no</text></g></foreignObject><a href="https://evil.example"><text>no</text></a>' +
        '<style>@import "https://evil.example/a;b&amp;c";\n text { fill: red }</style><style>text { fill: u&#114;l(//evil.example) }</style><text fill="&quot;&lt;">a &amp; b</text></svg>',
    ),
  ).toBe(
    '<svg style="fill:red"><style>\n text { fill: red }</style><style></style><text fill="&quot;&lt;">a &amp; b</text></svg>',
  );
});
