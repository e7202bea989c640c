a matrix of the tests                                                  |forms   
             2             1             1             0
psa                        5             5             7             0
(40I2)          (40I2)                             
 1 3 5 7 7 8
 1 3 2 5 3 5 5
