/**
 * A page with what is weighed of the real one: an entry, a part that is fetched later, and the
 * worker that every page starts.
 */
new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module' });
void import('./later.ts').then(({ later }) => (document.title = later));
