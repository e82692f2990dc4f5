/**
 * Documents in one request that starts processing. Servers work through the documents of a request one
 * after another and through five requests at once: ten a request took a quarter of the time that fifty did
 * (service behaviour).
 */
export const IDS_TO_START = 10;
