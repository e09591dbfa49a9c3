/**
 * The few pages that the relay renders itself, for a browser that is not signed in yet. They share
 * one style. Scripts and style are allowed by their hashes.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { isCallPath } from './endpoint.ts';
import { DEVICE_CODES } from '../../src/shared/protocol/device-code-settings.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';

const STYLE = `
:root { color-scheme: dark light; --ground: #12131c; --ink: #ecebf5; --soft: #a9a8bd; --line: #2c2d3d; --dawn: #f0a06a; }
@media (prefers-color-scheme: light) { :root { --ground: #faf7f2; --ink: #221f2e; --soft: #655f75; --line: #e2dccf; --dawn: #a8531c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 1.05rem/1.6 system-ui, sans-serif; }
main { max-width: 34rem; border-top: 3px solid var(--dawn); padding-top: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; color: var(--soft); }
a { color: var(--dawn); }
a:focus-visible { outline: 2px solid var(--dawn); outline-offset: 3px; }
form { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem; margin-top: 1.25rem; }
label { flex: 1 1 14rem; color: var(--soft); }
input, button { min-height: 44px; border: 1px solid var(--line); border-radius: 8px; padding: .4em .9em; background: none; color: var(--ink); font: inherit; }
input { display: block; width: 100%; margin-top: .25rem; }
button { border-color: var(--dawn); }
input:focus-visible, button:focus-visible { outline: 2px solid var(--dawn); outline-offset: 2px; }
kbd, code { font: .95em ui-monospace, monospace; color: var(--ink); border: 1px solid var(--line); border-radius: 4px; padding: .05em .4em; }
`;

/**
 * The script is constant, so that its hash is too. The key is in an attribute. The next page
 * replaces this one, which then is in no history.
 */
const KEEP = `const { pageKey, byDevice } = document.documentElement.dataset;
try {
  localStorage.setItem('${PAGE_KEY.stored}', pageKey);
  if (byDevice) sessionStorage.setItem('${DEVICE_CODES.remembered}', byDevice);
  location.replace('/');
} catch {
  document.getElementById('unkept').hidden = false;
}`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const POLICY = `default-src 'none'; img-src 'self'; style-src ${hashOf(STYLE)}; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`;

/** An app on a home screen has no address bar for a link. */
const PASTE = `<form action="/enter">
<label>The link, or what follows its <code>code=</code> or <code>join=</code><input name="code" required autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button>Go on</button>
</form>`;

/** `body` and `title` are our own markup. Nothing from a request is ever inserted. */
function page(status: number, title: string, body: string, { head = '', root = '', policy = POLICY } = {}): Response {
  const html = `<!doctype html>
<html lang="en"${root}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title>
<style>${STYLE}</style>
</head>
<body><main><h1>${title}</h1>
${body}
</main></body>
</html>
`;
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
    },
  });
}

/**
 * Puts the page key into the storage of this origin, once, and continues. `key` is our own
 * base64url. `byDevice`: it came by a device's code, which the next page is told.
 */
export const handOverPage = (key: string, byDevice: boolean): Response =>
  page(
    200,
    'Welcome home',
    `<p id="unkept" hidden>This browser keeps nothing for Roost, so it cannot be let in. Allow it to store data for this address (a private window may not), press <kbd>Enter</kbd> in the terminal in which Roost runs, and open the link that it prints.</p>
<noscript><p>Roost needs JavaScript. Switch it on for this address, press <kbd>Enter</kbd> in the terminal in which Roost runs, and open the link that it prints.</p></noscript>
<p><a href="/">Go on to Roost</a> if it does not open by itself.</p>
<script>${KEEP}</script>`,
    {
      root: ` data-page-key="${key}"${byDevice ? ' data-by-device="yes"' : ''}`,
      policy: `${POLICY}; script-src ${hashOf(KEEP)}`,
    },
  );

/**
 * Forwards the query of an authorisation server's redirect with the page's own key, and removes it
 * from the address.
 */
const FINISH = `const said = document.getElementById('said');
const query = location.search.slice(1);
history.replaceState(null, '', location.pathname);
try {
  fetch('/api/mcp-sign-ins', {
    method: 'POST',
    headers: { 'content-type': 'application/json', '${PAGE_KEY.header}': localStorage.getItem('${PAGE_KEY.stored}') ?? '' },
    body: JSON.stringify({ query }),
  }).then(
    async (answer) => {
      said.textContent = answer.ok
        ? 'You are signed in. You can close this tab: Roost goes on in the other one.'
        : ((await answer.json()).detail ?? 'That could not be taken.');
    },
    () => (said.textContent = 'Roost cannot be reached just now. Begin the sign-in once more.'),
  );
} catch {
  said.textContent = 'This browser keeps nothing for Roost, so it is not known here.';
}`;

export const signedInPage = (): Response =>
  page(
    200,
    'Back from the sign-in',
    `<p id="said" role="status">One moment…</p>
<p><a href="/settings/mcp">Go to your MCP servers</a></p>
<script>${FINISH}</script>`,
    { policy: `${POLICY}; connect-src 'self'; script-src ${hashOf(FINISH)}` },
  );

/**
 * Takes a device's code from the part after `#`, where no link preview could use it up, and leaves
 * no trace of it in the history.
 */
const TAKE_CODE = `const code = location.hash.slice(1);
if (code.startsWith('${DEVICE_CODES.fragment}')) location.replace('/enter?code=' + encodeURIComponent(code.slice(${DEVICE_CODES.fragment.length})));`;

/** The same. Without a code it continues to the page itself. */
const TAKE_CODE_OR_GO = `${TAKE_CODE}\nelse location.replace('/');`;

/**
 * A page and not a redirect: browsers do not send a Strict cookie along a redirect that began on
 * another site.
 */
export const welcomePage = (): Response =>
  page(
    200,
    'Welcome home',
    `<p><a href="/">Go on to Roost</a> if it does not open by itself.</p>
<script>${TAKE_CODE_OR_GO}</script>`,
    { policy: `${POLICY}; script-src ${hashOf(TAKE_CODE_OR_GO)}` },
  );

export const badLinkPage = (): Response =>
  page(
    401,
    'This link was used already, or is not whole',
    `<p>Each link opens Roost once. Look at the terminal in which Roost runs and press <kbd>Enter</kbd> there: it prints a fresh link.</p>
<p>Was it the code of another device of yours? Show a new one there: Settings, Devices and data, <b>Add a device</b>.</p>
<p>If nothing comes, stop it with <kbd>Ctrl</kbd> <kbd>C</kbd> and start it again with <code>npm start</code>.</p>
<p>If this browser was let in before, <a href="/">go on to Roost</a>.</p>
${PASTE}
<script>${TAKE_CODE}</script>`,
    { policy: `${POLICY}; script-src ${hashOf(TAKE_CODE)}` },
  );

export const signInPage = (): Response =>
  page(
    401,
    'Roost does not know this browser yet',
    `<p>Open the link that Roost printed in the terminal when it started. It lets this browser in, once and for good.</p>
<p>If the link was used already, press <kbd>Enter</kbd> in that terminal: it prints a fresh one.</p>
<p>Have you Roost on another device? Choose Settings, Devices and data, <b>Add a device</b> there: it shows a code for this one’s camera.</p>
${PASTE}`,
  );

export const databaseAwayPage = (headers: Readonly<Record<string, string>>): Response => {
  const away = page(
    503,
    'The relay cannot reach its database',
    '<p>What is being said is kept until it can. Look at the database that <code>DATABASE_URL</code> names, and load this page again in a moment.</p>',
  );
  for (const [name, value] of Object.entries(headers)) away.headers.set(name, value);
  return away;
};

export const notBuiltPage = (): Response =>
  page(503, 'The page is not built yet', '<p>Stop Roost, run <code>npm run build</code>, and start it again.</p>');

/** Whether a person opens a page, and so should get an HTML answer. */
export function wantsPage(context: Context): boolean {
  const { method, path } = context.req;
  return (
    (method === 'GET' || method === 'HEAD') &&
    !isCallPath(path) &&
    (context.req.header('accept') ?? '').includes('text/html')
  );
}
