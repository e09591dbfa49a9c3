/** `fetch` that reads so many bytes of one answer at most. */
export function createBoundedFetch(most: number, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const answer = await inner(input, init);
    if (!answer.body) return answer;
    let left = most;
    const counted = answer.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          left -= chunk.byteLength;
          if (left < 0) controller.error(new Error(`it answered with more than ${most / 1_000_000} MB`));
          else controller.enqueue(chunk);
        },
      }),
    );
    // Made anew, an answer loses where it came from.
    const bounded = new Response(counted, {
      status: answer.status,
      statusText: answer.statusText,
      headers: answer.headers,
    });
    Object.defineProperty(bounded, 'url', { value: answer.url });
    return bounded;
  };
}
