"""Ground truth for deformers: flesh on bones, solved as elastic bodies, so that no skinning method is favoured."""
