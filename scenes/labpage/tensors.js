"use strict";
/* The arithmetic of the lab: softmax(q·k / √64) and cosines, from whole levels and their steps. Indices count from 0,
   row 0 is CLS. */

/** Base64 of a zlib stream → bytes. */
async function unpack(text) {
  const coded = atob(text.trim());
  const bytes = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) bytes[i] = coded.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Tensors {
  constructor(bytes, model, pictures, planes) {
    const { depth, heads, tokens, headWidth, width } = model;
    this.model = model;
    const matrices = { q: [pictures * depth * heads, headWidth], k: [pictures * depth * heads, headWidth], features: [pictures * depth, width] };
    let at = 0;
    for (const [name, [many, coordinates]] of Object.entries(matrices)) {
      const view = new DataView(bytes.buffer, at, many * coordinates * 4);
      this[name] = { coordinates, steps: Float64Array.from({ length: many * coordinates }, (_, i) => view.getFloat32(4 * i, true)) };
      at += many * coordinates * 4;
    }
    Object.entries(matrices).forEach(([name, [many, coordinates]], number) => {
      const size = many * tokens * coordinates,
        levels = new Int32Array(size),
        empty = 32 - 8 * planes[number];
      for (let plane = 0; plane < planes[number]; plane++, at += size) for (let i = 0; i < size; i++) levels[i] |= bytes[at + i] << (8 * plane);
      for (let i = 0; i < size; i++) levels[i] = (levels[i] << empty) >> empty; // the sign
      this[name].levels = levels;
    });
    if (at !== bytes.length) throw new Error("the stored tensors have another size than the model");
    this.known = new Map();
  }

  /** One row of a matrix as numbers. */
  row(name, matrix, row) {
    const { coordinates, steps, levels } = this[name],
      values = new Float64Array(coordinates);
    const first = (matrix * this.model.tokens + row) * coordinates;
    for (let j = 0; j < coordinates; j++) values[j] = levels[first + j] * steps[matrix * coordinates + j];
    return values;
  }

  /** Dot products of ``values`` with every row of a matrix. */
  products(name, matrix, values) {
    const { coordinates, steps, levels } = this[name],
      { tokens } = this.model,
      out = new Float64Array(tokens);
    const scaled = values.map((v, j) => v * steps[matrix * coordinates + j]);
    for (let i = 0, at = matrix * tokens * coordinates; i < tokens; i++) {
      let sum = 0;
      for (let j = 0; j < coordinates; j++) sum += scaled[j] * levels[at++];
      out[i] = sum;
    }
    return out;
  }

  /** Scores q·k/√64 of one query and their softmax: {scores, powers, total, values}; powers are exp(score − largest). */
  attention(picture, block, head, query) {
    return this.once(`a ${picture} ${block} ${head} ${query}`, () => {
      const { depth, heads, headWidth } = this.model,
        matrix = (picture * depth + block) * heads + head;
      const scores = this.products("k", matrix, this.row("q", matrix, query)).map((s) => s / Math.sqrt(headWidth));
      const largest = scores.reduce((a, b) => Math.max(a, b));
      const powers = scores.map((s) => Math.exp(s - largest));
      const total = powers.reduce((a, b) => a + b);
      return { scores, largest, powers, total, values: powers.map((p) => p / total) };
    });
  }

  /** Cosines of one query's features after a block with those of every row: {products, lengths, values}. */
  similarity(picture, block, query) {
    return this.once(`s ${picture} ${block} ${query}`, () => {
      const matrix = picture * this.model.depth + block;
      const products = this.products("features", matrix, this.row("features", matrix, query));
      const lengths = this.once(`l ${matrix}`, () =>
        Float64Array.from({ length: this.model.tokens }, (_, i) => Math.sqrt(this.row("features", matrix, i).reduce((sum, v) => sum + v * v, 0))),
      );
      return { products, lengths, values: products.map((p, i) => p / (lengths[i] * lengths[query] || 1)) };
    });
  }

  once(key, make) {
    if (!this.known.has(key)) this.known.set(key, make());
    return this.known.get(key);
  }
}
