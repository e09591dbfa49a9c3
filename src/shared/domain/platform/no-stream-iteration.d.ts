/**
 * Safari cannot iterate a stream, and TypeScript's `lib` says that every browser can. Nothing can
 * be iterated by a method that also never returns: `for await` and `yield*` over a stream are type
 * errors. Read it with `getReader`, or through `chunksOf` of `old-browsers.ts`.
 */
interface ReadableStream<R> {
  [Symbol.asyncIterator](options?: ReadableStreamIteratorOptions): never;
  values(options?: ReadableStreamIteratorOptions): never;
}
